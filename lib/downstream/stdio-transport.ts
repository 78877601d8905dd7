/**
 * The stdio transport: one child process, one JSON-RPC message a line.
 *
 * It stands beside the SDK's own because that one cannot start the child in a process group of its own, takes up to four
 * seconds to end it, validates every message twice, and negotiates the protocol era on a second process. What always
 * holds: after `close()` has resolved the child and its group are gone; a child that exits closes the transport, with
 * the reason in `exitReason`; a message longer than `maxMessageBytes` is not held in memory, and is answered to the
 * waiting call as an error where its id can be read, else it closes the transport. The child gets the SDK's default
 * variables and its own, nothing else of our environment. The last lines of its stderr are kept, never printed. Progress
 * that nobody asked for and log messages go no further: to the SDK each is a fault to be written up, and a server may send
 * them without end.
 *
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { detachedGroup, signalGroup, watchChild } from './processes.ts';

export interface StdioTransportOptions {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** Longest message that is taken, in bytes. */
  maxMessageBytes: number;
}

/** JSON-RPC error code of the answer that stands for one that was too long; see the module's comment. */
export const TOO_LONG_CODE = -32_098;

/** A child that has seen the end of its stdin, then SIGTERM, has this long each before the next step. */
const END_OF_INPUT_MS = 300;
const TERMINATE_MS = 1500;
const MAX_STDERR = 4096;
const NEWLINE = 0x0a;
/** Of a message that is too long, this much of head and tail is kept to find its id. */
const KEPT_BYTES = 256;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why the child ended, once it has: our sentence. */
  exitReason: string | undefined;

  readonly #options: StdioTransportOptions;
  #child: ChildProcessWithoutNullStreams | undefined;
  #exited: Promise<void> = Promise.resolve();
  #closed = false;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #skipped: { head: Buffer; tail: Buffer } | undefined;
  #stderr = '';
  /** Of the requests under way that want to hear of their progress, by request. */
  readonly #progressTokens = new Map<unknown, unknown>();

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  /** These two make the SDK take the transport for stdio, where a silent server is an old one. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get stderr(): null {
    return null;
  }

  /** The end of what the child wrote to stderr, as it came. */
  get stderrTail(): string {
    return this.#stderr;
  }

  start(): Promise<void> {
    if (this.#child !== undefined) throw new Error('the transport was started before');
    const { command, args, env, cwd } = this.#options;
    return new Promise((resolve, reject) => {
      const child = spawn(command, [...args], {
        cwd,
        env: { ...getDefaultEnvironment(), ...env },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: detachedGroup,
        windowsHide: true,
      });
      this.#child = child;
      watchChild(child);
      this.#exited = new Promise((exited) => {
        child.once('exit', (code, signal) => {
          this.exitReason = signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
          exited();
        });
        child.once('error', () => exited());
      });
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) => {
        this.exitReason ??= startProblem(error);
        reject(error);
        this.onerror?.(error);
        this.#finish();
      });
      // 'close' comes after the last of stdout. A grandchild that holds the pipe open cannot delay it: the group is gone.
      child.once('close', () => this.#finish());
      child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
      child.stdout.on('error', (error) => this.onerror?.(error));
      child.stdin.on('error', (error) => this.onerror?.(error));
      child.stderr.on('data', (chunk: Buffer) => {
        this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-MAX_STDERR);
      });
      child.stderr.on('error', (error) => this.onerror?.(error));
    });
  }

  /** Rejects with NOT_CONNECTED where nothing was written. */
  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.#closed || !stdin.writable) {
      return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'the server is not running'));
    }
    if ('id' in message && 'method' in message) {
      const token = message.params?._meta?.progressToken;
      if (token !== undefined) this.#progressTokens.set(message.id, token);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      this.#progressTokens.delete(message.params?.requestId);
    }
    if (stdin.write(`${JSON.stringify(message)}\n`)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        stdin.off('drain', done);
        stdin.off('close', done);
        resolve();
      };
      stdin.once('drain', done);
      stdin.once('close', done);
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.pid === undefined) return;
    child.stdin.end();
    if (!(await this.#exitedWithin(END_OF_INPUT_MS))) {
      signalGroup(child, 'SIGTERM');
      if (!(await this.#exitedWithin(TERMINATE_MS))) {
        signalGroup(child, 'SIGKILL');
        await this.#exited;
      }
    }
    child.stdout.destroy();
    child.stderr.destroy();
    this.#finish();
  }

  async #exitedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const exited = await Promise.race([this.#exited.then(() => true), late]);
    clearTimeout(timer);
    return exited;
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#chunks = [];
    this.onclose?.();
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, from);
      if (newline === -1) break;
      const part =
        from === 0 && newline === chunk.length - 1
          ? chunk.subarray(0, newline)
          : chunk.subarray(from, newline);
      this.#endLine(part);
      from = newline + 1;
    }
    if (from < chunk.length) this.#keep(from === 0 ? chunk : chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#skipped !== undefined) {
      this.#skipped.tail = Buffer.concat([this.#skipped.tail, part.subarray(-KEPT_BYTES)]).subarray(
        -KEPT_BYTES,
      );
      return;
    }
    this.#chunks.push(part);
    if (this.#bytes > this.#options.maxMessageBytes) {
      const whole = Buffer.concat(this.#chunks);
      this.#chunks = [];
      this.#skipped = {
        head: Buffer.from(whole.subarray(0, KEPT_BYTES)),
        tail: Buffer.from(whole.subarray(-KEPT_BYTES)),
      };
    }
  }

  #endLine(part: Buffer): void {
    if (this.#bytes === 0) {
      if (part.length > this.#options.maxMessageBytes) this.#keep(part);
      else {
        this.#deliver(part);
        return;
      }
    } else {
      this.#keep(part);
    }
    const line = Buffer.concat(this.#chunks);
    const skipped = this.#skipped;
    const bytes = this.#bytes;
    this.#chunks = [];
    this.#bytes = 0;
    this.#skipped = undefined;
    if (skipped === undefined) this.#deliver(line);
    else this.#tooLong(skipped, bytes);
  }

  #deliver(line: Buffer): void {
    let message: unknown;
    try {
      message = JSON.parse(line.toString('utf8'));
    } catch {
      // Many servers print a banner to stdout. It is no message; a call that waits for one has its time limit.
      if (line.length > 1) this.onerror?.(new Error('a line of its output is not JSON'));
      return;
    }
    if (typeof message !== 'object' || message === null) return;
    // The SDK hands notifications on a microtask later, and forgets a call's progress with its answer: an answer read
    // together with the progress before it must not overtake it.
    if ('method' in message) {
      if (this.#isWanted(message)) this.onmessage?.(message as JSONRPCMessage);
    } else {
      if ('id' in message) this.#progressTokens.delete(message.id);
      queueMicrotask(() => this.onmessage?.(message as JSONRPCMessage));
    }
  }

  #isWanted(message: { method: unknown; params?: unknown }): boolean {
    if (message.method === 'notifications/message') return false;
    if (message.method !== 'notifications/progress') return true;
    if (this.#progressTokens.size === 0) return false;
    const token = (message.params as { progressToken?: unknown } | undefined)?.progressToken;
    return [...this.#progressTokens.values()].includes(token);
  }

  #tooLong(kept: { head: Buffer; tail: Buffer }, bytes: number): void {
    const id =
      /^\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d+)/.exec(kept.head.toString('latin1')) ??
      /"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(kept.tail.toString('latin1'));
    const message = `the answer has ${bytes} bytes; ${this.#options.maxMessageBytes} is the limit`;
    if (id?.[1] === undefined) {
      this.exitReason ??= message;
      void this.close();
      return;
    }
    this.onmessage?.({ jsonrpc: '2.0', id: Number(id[1]), error: { code: TOO_LONG_CODE, message } });
  }
}

function startProblem(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'its command or its working directory was not found';
  if (error.code === 'EACCES') return 'its command may not be executed';
  return `it could not be started (${error.code ?? 'unknown error'})`;
}
