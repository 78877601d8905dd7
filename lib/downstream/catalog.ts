/**
 * Which tools the downstream servers offer.
 *
 * A server's list is read whole (every page) when it is first needed and kept until the server says that it changed, or
 * reconnects. The allow-list of mcp.json is applied to what is shown and to what a name can mean. A server that cannot be
 * reached is reported beside the others and never fails them.
 */
import { StepFailure } from '../blueprint/errors.ts';
import { listNames, nearestName } from '../blueprint/suggest.ts';
import { cleanText } from './clean-text.ts';
import type { ServerConfig } from './config.ts';
import type { Pool, ServerState } from './pool.ts';
import { withoutSecrets } from './secrets.ts';
import { isAllowed, type ToolInfo, toolInfo } from './tool-info.ts';

export interface Catalog {
  tools: ToolInfo[];
  unreachable: { server: string; error: string }[];
}

export interface CatalogOptions {
  /** Only this server. */
  server?: string;
  /** Read lists again that are older. Default: any age will do. */
  maxAgeMs?: number;
}

/** A server that has not listed its tools by then is reported as unreachable. */
const LIST_TIMEOUT_MS = 30_000;
const FAILURE_MS = 5000;
/** A name that is not in a list older than this is looked for in a new one: not every server tells of changes. */
const MISS_AGE_MS = 1000;
/** Of a tool's name, where it is told in a sentence. */
const MAX_NAME_BYTES = 128;

/** The tools of all servers (or one), in the order of mcp.json and of the server. Never throws for a server's sake. */
export async function readCatalog(pool: Pool, options: CatalogOptions = {}): Promise<Catalog> {
  const states = [...pool.servers.values()].filter(
    ({ config }) => options.server === undefined || config.name === options.server,
  );
  const read = await Promise.all(
    states.map(async (state) => {
      const failure = options.server === undefined ? recentFailure(state) : undefined;
      if (failure !== undefined) return { state, tools: undefined, error: failure };
      try {
        return { state, tools: await readTools(pool, state, options.maxAgeMs), error: '' };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        state.failure = { at: Date.now(), reason: cleanText(withoutSecrets(reason, state.config.secrets)) };
        return { state, tools: undefined, error: state.failure.reason };
      }
    }),
  );
  const catalog: Catalog = { tools: [], unreachable: [] };
  for (const one of read) {
    const { config } = one.state;
    if (one.tools === undefined) catalog.unreachable.push({ server: config.name, error: one.error });
    else catalog.tools.push(...[...one.tools.values()].filter((tool) => isAllowed(config, tool.name)));
  }
  return catalog;
}

/** A server that does not start is not started anew by every look at the whole catalog. */
function recentFailure(state: ServerState): string | undefined {
  const { failure } = state;
  return failure !== undefined && Date.now() - failure.at < FAILURE_MS ? failure.reason : undefined;
}

/** A server's tools by name, allow-list not applied. Rejects with an Error where the server cannot be asked. */
export function readTools(
  pool: Pool,
  state: ServerState,
  maxAgeMs: number = Number.POSITIVE_INFINITY,
): Promise<ReadonlyMap<string, ToolInfo>> {
  if (state.tools !== undefined && Date.now() - state.toolsReadAt <= maxAgeMs)
    return Promise.resolve(state.tools);
  if (state.toolsReading !== undefined) return state.toolsReading;
  const reading = fetchTools(pool, state);
  state.toolsReading = reading;
  reading.then(
    (tools) => {
      // A change told of meanwhile has taken `toolsReading` away: what was read is for its reader alone.
      if (state.toolsReading !== reading) return;
      state.toolsReading = undefined;
      state.tools = tools;
      state.failure = undefined;
      state.toolsReadAt = Date.now();
    },
    () => {
      if (state.toolsReading === reading) state.toolsReading = undefined;
    },
  );
  return reading;
}

async function fetchTools(pool: Pool, state: ServerState): Promise<ReadonlyMap<string, ToolInfo>> {
  const lease = await pool.acquire(state, undefined);
  try {
    const { client } = lease.connection;
    if (client.getServerCapabilities()?.tools === undefined) return new Map();
    const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
    const { tools } = await client.listTools(undefined, {
      cacheMode: 'bypass',
      timeout: LIST_TIMEOUT_MS,
      signal,
    });
    return new Map(tools.map((tool) => [tool.name, toolInfo(state.config.name, tool)]));
  } finally {
    await lease.release();
  }
}

/**
 * The tool that a blueprint's `tool` means: `server/name`, or a bare name that one server offers. Throws StepFailure:
 * UnknownTool (with the nearest name, and the servers that could not be asked), ToolNotAllowed, or UnknownTool where two
 * servers offer the bare name.
 */
export async function resolveTool(pool: Pool, name: string): Promise<ToolInfo> {
  const slash = name.indexOf('/');
  const prefix = slash === -1 ? undefined : name.slice(0, slash);
  // A tool's own name may hold a slash; a prefix counts only if it is a server's name.
  if (prefix !== undefined && pool.servers.has(prefix)) {
    return resolveIn(pool, prefix, name.slice(slash + 1));
  }
  let catalog = await readCatalog(pool);
  if (!catalog.tools.some((tool) => tool.name === name))
    catalog = await readCatalog(pool, { maxAgeMs: MISS_AGE_MS });
  const found = catalog.tools.filter((tool) => tool.name === name);
  const [first, second] = found;
  if (first === undefined) throw unknownTool(pool, name, catalog);
  if (second !== undefined) {
    const choices = listNames(found.map((tool) => `${tool.server}/${tool.name}`));
    throw new StepFailure('UnknownTool', `more than one server offers "${name}"; write one of ${choices}`, {
      tool: name,
    });
  }
  return first;
}

async function resolveIn(pool: Pool, server: string, tool: string): Promise<ToolInfo> {
  const state = pool.servers.get(server);
  if (state === undefined) throw new Error(`resolveIn is called for a known server, not ${server}`);
  if (!isAllowed(state.config, tool)) throw notAllowed(state.config, tool);
  let catalog = await readCatalog(pool, { server });
  const isIt = (one: ToolInfo) => one.name === tool;
  if (!catalog.tools.some(isIt)) catalog = await readCatalog(pool, { server, maxAgeMs: MISS_AGE_MS });
  const found = catalog.tools.find(isIt);
  if (found !== undefined) return found;
  const [unreachable] = catalog.unreachable;
  if (unreachable !== undefined) {
    throw new StepFailure('ServerUnavailable', `server "${server}" cannot be reached: ${unreachable.error}`, {
      server,
      tool,
    });
  }
  throw unknownToolOf(
    server,
    tool,
    catalog.tools.map((one) => one.name),
  );
}

function unknownTool(pool: Pool, name: string, catalog: Catalog): StepFailure {
  const hidden = [...pool.servers.values()].find(
    ({ config, tools }) => !isAllowed(config, name) && tools?.has(name) === true,
  );
  if (hidden !== undefined) return notAllowed(hidden.config, name);
  // The right tool of a wrong server is nearer than any other name.
  const elsewhere = catalog.tools.find((tool) => name.endsWith(`/${tool.name}`));
  const near =
    elsewhere === undefined
      ? nearestName(
          name,
          new Set(catalog.tools.flatMap((tool) => [tool.name, `${tool.server}/${tool.name}`])),
        )
      : `${elsewhere.server}/${elsewhere.name}`;
  const hint = near === undefined ? '' : ` Did you mean "${cleanText(near, MAX_NAME_BYTES)}"?`;
  const silent = catalog.unreachable.map(({ server }) => server);
  const unasked = silent.length === 0 ? '' : ` (not reached: ${listNames(silent)})`;
  return new StepFailure('UnknownTool', `no connected server offers the tool "${name}"${unasked}.${hint}`, {
    tool: name,
  });
}

/** The server answered, and does not have the tool. */
export function unknownToolOf(server: string, tool: string, offered: Iterable<string>): StepFailure {
  const near = nearestName(tool, offered);
  const hint = near === undefined ? '' : ` Did you mean "${cleanText(near, MAX_NAME_BYTES)}"?`;
  return new StepFailure('UnknownTool', `server "${server}" has no tool "${tool}".${hint}`, { server, tool });
}

export function notAllowed({ name: server, tools = [] }: ServerConfig, tool: string): StepFailure {
  const near = nearestName(tool, tools);
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`;
  const message = `"tools" of server "${server}" in mcp.json does not allow "${tool}"${hint}`;
  return new StepFailure('ToolNotAllowed', message, { server, tool });
}
