/**
 * One open connection to one downstream server: SDK client, transport, and the reason for its end.
 *
 * Both protocol eras are spoken: the SDK asks with `server/discover` and falls back to `initialize`. Sampling, elicitation
 * and roots are not offered. Structured results are not checked against the tool's output schema: by then the call has
 * been carried out, and failing it would call a done thing undone; what came is what the step sees.
 */
import {
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  SdkError,
  type Transport,
} from '@modelcontextprotocol/client';
import { cleanText } from './clean-text.ts';
import type { ServerConfig } from './config.ts';
import { createHttpTransport, type HttpTransport } from './http-transport.ts';
import { withoutFolders, withoutSecrets } from './secrets.ts';
import { StdioTransport } from './stdio-transport.ts';
import { boundLists, MAX_PAGES } from './tool-list.ts';

export type Era = 'legacy' | 'modern';

export interface Connection {
  readonly client: Client;
  /** Which protocol era was agreed on. */
  readonly era: Era;
  /** Process id of a stdio server. */
  readonly pid: number | null;
  readonly isOpen: boolean;
  /** Why it ended, once it has: our sentence, and for a child the end of what it wrote to stderr. */
  endReason(): string | undefined;
  /** Drops HTTP sockets that have been idle for over 2 s. */
  dropIdle(): void;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** What an earlier connection to the server found, to skip the question. */
  era?: Era;
  /** Default 10,000; see PROBE_TIMEOUT_MS. */
  probeTimeoutMs?: number;
  /** Gives up an opening that is under way. */
  signal: AbortSignal;
  onToolsChanged(): void;
  onClosed(): void;
}

/** Longest answer that is taken: what one evaluation may build (16 MiB), and JSON-RPC around it. */
export const MAX_MESSAGE_BYTES = 17 * 1024 * 1024;

const CLIENT_INFO = { name: 'mcp-workflow-engine', version: '0.1.0' };
/** A server behind `npx` may have to be downloaded first. */
const CONNECT_TIMEOUT_MS = { stdio: 60_000, http: 20_000 };
/** A stdio server that is silent for so long on `server/discover` is asked with `initialize`. */
const PROBE_TIMEOUT_MS = 10_000;

const acceptAnything: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input: unknown) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/** Opens a connection. Rejects with an Error whose message is fit for a StepFailure (ServerUnavailable). */
export async function openConnection(config: ServerConfig, options: ConnectionOptions): Promise<Connection> {
  try {
    return await connect(config, options, options.era);
  } catch (error) {
    // Some old stdio servers exit on a request before `initialize`. They get a second life, and that one first.
    const died = options.era === undefined && !options.signal.aborted && error instanceof DiedOnProbe;
    if (!died) throw error;
    return await connect(config, options, 'legacy');
  }
}

class DiedOnProbe extends Error {}

async function connect(
  config: ServerConfig,
  options: ConnectionOptions,
  era: Era | undefined,
): Promise<Connection> {
  const stdio = config.transport === 'stdio' ? stdioTransport(config) : undefined;
  const http = config.transport === 'stdio' ? undefined : createHttpTransport(config, MAX_MESSAGE_BYTES);
  const transport = (stdio ?? http) as Transport;
  const timeout = CONNECT_TIMEOUT_MS[stdio === undefined ? 'http' : 'stdio'];
  const client = new Client(CLIENT_INFO, {
    capabilities: {},
    jsonSchemaValidator: acceptAnything,
    inputRequired: { autoFulfill: false },
    listMaxPages: MAX_PAGES,
    versionNegotiation: {
      mode: era === 'legacy' || config.transport === 'sse' ? 'legacy' : 'auto',
      probe: { timeoutMs: stdio === undefined ? timeout : (options.probeTimeoutMs ?? PROBE_TIMEOUT_MS) },
    },
  });
  boundLists(client);
  // Out-of-band problems (a banner on stdout, a broken notification) concern no call; a call fails by itself.
  client.onerror = () => undefined;
  let open = true;
  client.onclose = () => {
    open = false;
    options.onClosed();
  };
  client.setNotificationHandler('notifications/tools/list_changed', () => options.onToolsChanged());
  const giveUp = () => void transport.close();
  options.signal.addEventListener('abort', giveUp, { once: true });
  try {
    if (options.signal.aborted) throw new Error('the engine is shutting down');
    await client.connect(transport, { timeout });
  } catch (error) {
    const before = stdio?.exitReason;
    await transport.close().catch(() => undefined);
    http?.http.close();
    const reason = before ?? withoutSecrets(connectReason(error, timeout), config.secrets);
    const message = withStderr(reason, config, stdio);
    if (before?.startsWith('it exited') === true) throw new DiedOnProbe(message, { cause: error });
    throw new Error(message, { cause: error });
  } finally {
    options.signal.removeEventListener('abort', giveUp);
  }
  const agreed: Era = client.getProtocolEra() === 'modern' ? 'modern' : 'legacy';
  if (agreed === 'modern' && stdio !== undefined) listenForChanges(client);
  return {
    client,
    era: agreed,
    pid: stdio?.pid ?? null,
    get isOpen() {
      return open;
    },
    endReason: () =>
      stdio?.exitReason === undefined ? undefined : withStderr(stdio.exitReason, config, stdio),
    dropIdle: () => http?.http.dropIdle(),
    close: () => closeConnection(client, transport, http),
  };
}

function stdioTransport(config: ServerConfig & { transport: 'stdio' }): StdioTransport {
  const { args, env, cwd } = config;
  // The Node that runs the engine, whatever PATH says.
  const command = config.command === 'node' ? process.execPath : config.command;
  return new StdioTransport({ command, args, env, cwd, maxMessageBytes: MAX_MESSAGE_BYTES });
}

async function closeConnection(
  client: Client,
  transport: Transport,
  http: HttpTransport | undefined,
): Promise<void> {
  await http?.endSession();
  await client.close().catch(() => undefined);
  // The client lets go of a transport that closed by itself; closing twice does no harm.
  await transport.close().catch(() => undefined);
}

/** On 2026-07-28 changes are told only to who listens. Over HTTP that would be a stream kept open, so there age decides. */
function listenForChanges(client: Client): void {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  client.listen({ toolsListChanged: true }).catch(() => undefined);
}

function connectReason(error: unknown, timeoutMs: number): string {
  if (error instanceof SdkError && error.code === 'REQUEST_TIMEOUT')
    return `it did not answer within ${timeoutMs / 1000} s`;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'NotSentError') return cause.message;
    const status = (cause as { status?: unknown }).status;
    if (typeof status === 'number') return `it answered HTTP ${status}`;
  }
  return cleanText(error instanceof Error ? error.message : String(error), 300);
}

/** The last line that the child wrote to stderr tells best why it died. Our secrets and folders are taken out. */
function withStderr(reason: string, config: ServerConfig, stdio: StdioTransport | undefined): string {
  if (stdio === undefined || config.transport !== 'stdio') return reason;
  const lines = stdio.stderrTail
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at |^Node\.js v/.test(line));
  let line = lines.findLast((text) => /error|exception|fatal|cannot|not found/i.test(text)) ?? lines.at(-1);
  if (line === undefined) return reason;
  line = withoutFolders(withoutSecrets(line, [...config.secrets, ...Object.values(config.env)]));
  return `${reason}; its stderr: ${cleanText(line, 300)}`;
}
