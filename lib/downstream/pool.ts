/**
 * The connections to all downstream servers.
 *
 * What always holds: a connection is opened when the first call needs it, and by one caller; others wait for the same. A
 * connection that ended (a crashed server too) is forgotten at once, and the next call opens another. `close()` ends every
 * child process and socket, including one that is being opened; after it nothing is opened any more.
 */
import { setMaxListeners } from 'node:events';
import type { ServerConfig } from './config.ts';
import { type Connection, type ConnectionOptions, type Era, openConnection } from './connection.ts';
import { createGate, type Gate } from './gate.ts';
import { fillSecrets, type ReadSecret } from './secret-values.ts';
import type { ToolInfo } from './tool-info.ts';

/** What is known of one server. */
export interface ServerState {
  /** Placeholders of secrets stand in it still; `secrets` of it grows with each value that is read. */
  readonly config: ServerConfig & { readonly secrets: string[] };
  readonly gate: Gate;
  /** By session: `pool`, or `run RUN`. */
  readonly connections: Map<string, Slot>;
  era: Era | undefined;
  /** By name, allow-list not applied. Undefined until read, and again after a change. */
  tools: ReadonlyMap<string, ToolInfo> | undefined;
  toolsReadAt: number;
  toolsReading: Promise<ReadonlyMap<string, ToolInfo>> | undefined;
  /** Of the last try to read the tools, if it failed. */
  failure: { at: number; reason: string } | undefined;
}

interface Slot {
  connection: Connection | undefined;
  opening: Promise<Connection>;
  lastUsed: number;
  inUse: number;
  /** Of a run's connection that is not in use: ends it. */
  idle: NodeJS.Timeout | undefined;
}

export interface Pool {
  readonly servers: ReadonlyMap<string, ServerState>;
  /** A connection for a call. `release` it afterwards, also where the call failed. Rejects where none can be opened. */
  acquire(state: ServerState, run: string | undefined): Lease | Promise<Lease>;
  /** Ends the connections that were opened for a run (`"session": "run"`). */
  releaseRun(run: string): Promise<void>;
  /** At a function's start: HTTP sockets idle for over 2 s are dropped, and connections of runs that are over. */
  dropIdle(): void;
  /** Process ids of the stdio servers that are connected. */
  pids(): number[];
  close(): Promise<void>;
}

export interface Lease {
  connection: Connection;
  /** Nothing to do for a connection that stays. */
  release(): Promise<void> | undefined;
}

/** A run that was stopped between two of its calls is released by nobody: its connections end after this time. */
const RUN_IDLE_MS = 5 * 60_000;

export interface PoolOptions {
  /** Epoch ms; default Date.now. */
  now?: () => number;
  /** How long a stdio server may be silent on `server/discover` before it is taken for an old one. Default 10,000. */
  probeTimeoutMs?: number;
  /** How long a run's connection stays without a call. Default 5 minutes. */
  runIdleMs?: number;
  /** Reads what `${secret:NAME}` stands for; absent: a server that has one cannot be connected to. */
  readSecret?: ReadSecret | undefined;
}

export function createPool(configs: readonly ServerConfig[], options: PoolOptions = {}): Pool {
  const { now = Date.now, runIdleMs = RUN_IDLE_MS } = options;
  const servers = new Map<string, ServerState>();
  for (const config of configs) {
    servers.set(config.name, {
      config: { ...config, secrets: [...config.secrets] },
      gate: createGate(config.maxConcurrency),
      connections: new Map(),
      era: undefined,
      tools: undefined,
      toolsReadAt: 0,
      toolsReading: undefined,
      failure: undefined,
    });
  }
  const opened = new Set<Promise<Connection>>();
  const shutdown = new AbortController();
  // Every connection that is being opened listens, and there may be more than the ten that Node takes for a leak.
  setMaxListeners(0, shutdown.signal);

  const connect = async (state: ServerState, how: ConnectionOptions): Promise<Connection> => {
    if (state.config.secretReferences === undefined) return openConnection(state.config, how);
    const filling = fillSecrets(state.config, options.readSecret);
    const { config, values } = await beforeAbort(filling, shutdown.signal);
    const { secrets } = state.config;
    secrets.push(...values.filter((value) => !secrets.includes(value)));
    return openConnection({ ...config, secrets }, how);
  };

  const open = (state: ServerState, onClosed: () => void): Promise<Connection> => {
    if (shutdown.signal.aborted) return Promise.reject(new Error('the engine is shutting down'));
    const opening = connect(state, {
      ...(state.era === undefined ? {} : { era: state.era }),
      ...(options.probeTimeoutMs === undefined ? {} : { probeTimeoutMs: options.probeTimeoutMs }),
      signal: shutdown.signal,
      onToolsChanged: () => forgetTools(state),
      onClosed: () => {
        opened.delete(opening);
        onClosed();
      },
    });
    opened.add(opening);
    opening.then(
      (connection) => {
        state.era = connection.era;
      },
      () => {
        opened.delete(opening);
        // It may speak another revision now: the next try asks again.
        state.era = undefined;
      },
    );
    return opening;
  };

  const openSlot = (state: ServerState, key: string): Slot => {
    const slot: Slot = {
      connection: undefined,
      lastUsed: now(),
      inUse: 0,
      idle: undefined,
      opening: open(state, () => drop()),
    };
    const drop = () => {
      slot.connection = undefined;
      if (state.connections.get(key) !== slot) return;
      state.connections.delete(key);
      // A server that comes back may be another version of itself.
      forgetTools(state);
    };
    slot.opening.then((connection) => {
      if (connection.isOpen) slot.connection = connection;
    }, drop);
    state.connections.set(key, slot);
    return slot;
  };

  const leaseOf = (state: ServerState, slot: Slot, connection: Connection): Lease => {
    slot.inUse++;
    slot.lastUsed = now();
    clearTimeout(slot.idle);
    return {
      connection,
      release() {
        slot.inUse--;
        slot.lastUsed = now();
        if (state.config.session === 'run' && slot.inUse === 0) {
          slot.idle = setTimeout(() => void closeSlot(slot), runIdleMs).unref();
        }
        return undefined;
      },
    };
  };

  const acquireOwn = async (state: ServerState): Promise<Lease> => {
    const connection = await open(state, () => undefined);
    return { connection, release: () => connection.close() };
  };

  return {
    servers,
    acquire(state, run) {
      const { session } = state.config;
      if (session === 'call' || (session === 'run' && run === undefined)) return acquireOwn(state);
      const key = session === 'pool' ? 'pool' : `run ${run}`;
      const slot = state.connections.get(key) ?? openSlot(state, key);
      if (slot.connection !== undefined) return leaseOf(state, slot, slot.connection);
      return slot.opening.then((connection) => leaseOf(state, slot, connection));
    },
    async releaseRun(run) {
      const closing: Promise<void>[] = [];
      for (const state of servers.values()) {
        const slot = state.connections.get(`run ${run}`);
        if (slot !== undefined) closing.push(closeSlot(slot));
      }
      await Promise.all(closing);
    },
    dropIdle() {
      for (const state of servers.values()) {
        for (const slot of state.connections.values()) {
          slot.connection?.dropIdle();
          // In a function that was frozen no timer has gone on.
          const over = state.config.session === 'run' && now() - slot.lastUsed > runIdleMs;
          if (over && slot.inUse === 0) void closeSlot(slot);
        }
      }
    },
    pids() {
      return [...servers.values()].flatMap((state) =>
        [...state.connections.values()].flatMap((slot) => slot.connection?.pid ?? []),
      );
    },
    async close() {
      shutdown.abort();
      await Promise.all(
        [...opened].map((opening) =>
          opening.then(
            (connection) => connection.close(),
            () => undefined,
          ),
        ),
      );
    },
  };
}

/** The next reader asks the server again. */
export function forgetTools(state: ServerState): void {
  state.tools = undefined;
  state.toolsReading = undefined;
}

async function closeSlot(slot: Slot): Promise<void> {
  clearTimeout(slot.idle);
  await slot.opening.then(
    (connection) => connection.close(),
    () => undefined,
  );
}

/** What is being read is not waited for once the pool closes. */
function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error('the engine is shutting down'));
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
