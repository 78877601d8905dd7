/**
 * A whole engine for a test: embedded AWS on free ports, data in a fresh folder, the downstream servers that the test
 * names. Nothing is mocked; agents connect over HTTP.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../lib/blueprint/json.ts';
import { type Agent, connectAgent } from '../lib/cli/agent.ts';
import { type Engine, type EngineOptions, startEngine } from '../lib/cli/engine.ts';
import { projectRoot } from '../lib/cli/project.ts';
import type { Authenticator } from '../lib/mcp/auth/authenticator.ts';
import { fixedPrincipal } from '../lib/mcp/auth/fixed.ts';
import type { Principal } from '../lib/store/records.ts';

export interface RunningEngine extends Engine {
  agent: Agent;
  dataDir: string;
  /** Stops the engine and drops its data. */
  end(): Promise<void>;
}

const modules = join(projectRoot(), 'node_modules', '@modelcontextprotocol');

/** Entries of mcp.json for the published servers, by name. */
export const PUBLISHED = {
  everything: { command: 'node', args: [join(modules, 'server-everything', 'dist', 'index.js')] },
  filesystem: {
    command: 'node',
    args: [join(modules, 'server-filesystem', 'dist', 'index.js'), projectRoot()],
    trustAnnotations: true,
  },
  memory: {
    command: 'node',
    args: [join(modules, 'server-memory', 'dist', 'index.js')],
    env: { MEMORY_FILE_PATH: '$' + '{dataFolder}/memory.jsonl' },
    trustAnnotations: true,
  },
} as const;

/** Starts an engine with these downstream servers. `dataDir`: one that exists, to start on an earlier engine's data. */
export async function startRunningEngine(
  servers: Readonly<Record<string, JsonObject | (typeof PUBLISHED)[keyof typeof PUBLISHED]>>,
  options: {
    dataDir?: string;
    /** Default 0: any free one. */
    port?: number;
    blueprints?: string;
    /** Who asks, by the headers of a request; undefined: nobody. */
    principalOf?: (request: Request) => Principal | undefined;
    authenticator?: Authenticator;
    /** Sent by `agent`. */
    headers?: Record<string, string>;
  } & Pick<EngineOptions, 'limits' | 'principalLimits' | 'callTool' | 'maxHeldMs' | 'log'> = {},
): Promise<RunningEngine> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'mwe-test-')));
  const config = join(dataDir, 'mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers: servers }));
  const { limits, principalLimits, callTool, maxHeldMs, log } = options;
  const engine = await startEngine({
    port: options.port ?? 0,
    config,
    dataDir,
    ...(options.blueprints === undefined ? {} : { blueprints: options.blueprints }),
    ...(limits === undefined ? {} : { limits }),
    ...(principalLimits === undefined ? {} : { principalLimits }),
    ...(callTool === undefined ? {} : { callTool }),
    ...(maxHeldMs === undefined ? {} : { maxHeldMs }),
    ...(log === undefined ? {} : { log }),
    ...(options.principalOf === undefined ? {} : { authenticator: fixedPrincipal(options.principalOf) }),
    ...(options.authenticator === undefined ? {} : { authenticator: options.authenticator }),
  });
  const agent = await connectAgent(engine.mcp, options.headers);
  return {
    ...engine,
    agent,
    dataDir,
    async end() {
      await agent.close();
      await engine.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
