/**
 * The downstream configuration of the deployment: mcp.json and the packages of its stdio servers, put into call-tool's asset.
 *
 *     <asset>/mcp.json                 rewritten for the function
 *     <asset>/servers/package.json     the committed lock, and what it installs
 *     <asset>/servers/node_modules/…
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ConfigError, parseServers } from '../../lib/downstream/config.ts';
import { programOf } from '../../lib/downstream/npx.ts';
import { serversHash } from '../../lib/downstream/servers-hash.ts';
import { SynthFault } from '../synth-fault.ts';
import { type AwsServer, readAwsServers, SERVERS_FOLDER, writeAwsServers } from './aws-servers.ts';
import { copyInstalled, installLocked } from './install.ts';
import { type Lock, packagesOf, readLock } from './lock.ts';

/** Where Lambda unpacks an asset. Source: Lambda developer guide, LAMBDA_TASK_ROOT. */
const TASK_ROOT = '/var/task';

export interface PrepareOptions {
  /** Path of mcp.json. */
  mcpJson: string;
  /** Folder of call-tool's asset. */
  outFolder: string;
  /** A server's secrets may stand beside the programs of other servers. */
  trustTogether: boolean;
  /** The project's folder: the lock is in its `infra/servers`, what is installed is kept in its `dist/servers`. */
  root: string;
}

export interface PreparedServers {
  /** Of the configuration as call-tool reads it. */
  serversHash: string;
  /** Names of the secrets that it reads. */
  secrets: string[];
  /** What may not work, a line each. */
  warnings: string[];
}

/** @throws SynthFault with everything that AWS does not allow, and what to write instead */
export async function prepareServers(options: PrepareOptions): Promise<PreparedServers> {
  const { mcpJson, outFolder, root } = options;
  const refuse = (problems: readonly string[]) => new SynthFault(`${mcpJson}:`, problems);
  const { servers, problems } = read(options);
  if (problems.length > 0) throw refuse(problems);
  const wanted = packagesOf(servers);
  await mkdir(outFolder, { recursive: true });
  let programIn = (name: string): string => name;
  let warnings: string[] = [];
  if (Object.keys(wanted).length > 0) {
    const lock = readLock(join(root, 'infra', 'servers'), wanted);
    if ('problems' in lock) throw refuse(lock.problems);
    const installed = await install(
      lock.lock,
      join(root, 'dist', 'servers'),
      join(outFolder, SERVERS_FOLDER),
    );
    ({ programIn, warnings } = installed);
    const faults = [
      ...installed.problems,
      ...Object.keys(wanted).flatMap((name) => withoutProgram(name, programIn)),
    ];
    if (faults.length > 0) throw refuse(faults);
  }
  const text = writeAwsServers(servers, programIn);
  await writeFile(join(outFolder, 'mcp.json'), text);
  return {
    serversHash: hashOf(text, mcpJson),
    secrets: [...new Set(servers.flatMap(({ secrets }) => secrets))].sort(),
    warnings,
  };
}

function read({ mcpJson, trustTogether }: PrepareOptions): { servers: AwsServer[]; problems: string[] } {
  try {
    return readAwsServers(readFileSync(mcpJson, 'utf8'), mcpJson, trustTogether);
  } catch (error) {
    if (error instanceof ConfigError) throw new SynthFault(`${mcpJson}:`, error.problems);
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new SynthFault(`${mcpJson}:`, [`it cannot be read (${code})`]);
  }
}

async function install(lock: Lock, cacheFolder: string, outFolder: string) {
  const { folder, inspection } = await installLocked(lock, cacheFolder);
  if (inspection.problems.length === 0) await copyInstalled(folder, outFolder);
  const programIn = (name: string): string => {
    const place = join(folder, 'node_modules', ...name.split('/'));
    const program = programOf(place, name);
    return program === undefined ? '' : relative(place, program).split(sep).join('/');
  };
  return { ...inspection, programIn };
}

function withoutProgram(name: string, programIn: (name: string) => string): string[] {
  return programIn(name) === ''
    ? [
        `${name} has no program that npx would start ("bin" of its package.json); name a package that is an MCP server`,
      ]
    : [];
}

/** As the function reads it. What fills its variables does not count in the hash, but has to be something. */
function hashOf(text: string, mcpJson: string): string {
  try {
    return serversHash(
      parseServers(text, {
        file: `${TASK_ROOT}/mcp.json`,
        dataFolder: '/tmp',
        env: { AWS_REGION: 'region', AWS_DEFAULT_REGION: 'region' },
      }),
    );
  } catch (error) {
    if (error instanceof ConfigError) throw new SynthFault(`${mcpJson}:`, error.problems);
    throw error;
  }
}
