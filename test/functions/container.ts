/** One container of a function: a process that has loaded a bundle (rehearsal/lambda-runtime.mjs), spoken to by message. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { projectRoot } from '../../lib/cli/project.ts';

export interface InvokeOptions {
  /** Of the function. Default 60,000. */
  timeoutMs?: number;
  /** X-Ray's header of the trace. */
  traceHeader?: string;
}

/** A streamed answer. */
export interface Streamed {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** Chunks that came. */
  chunks: number;
}

export interface Container {
  /** Milliseconds that loading the bundle took. */
  importMs: number;
  /** Invokes a handler that does not stream. Rejects with its error. */
  invoke(event: unknown, options?: InvokeOptions): Promise<unknown>;
  /** Invokes a streaming handler. `onChunk` may make the reader go. */
  stream(
    event: unknown,
    options?: InvokeOptions & { onChunk?: (text: string, leave: () => void) => void },
  ): Promise<Streamed>;
  /** What the function has written so far; whole once the process has ended. */
  stdout(): string;
  stderr(): string;
  /** Ends the process; resolves when it and its output have ended. */
  stop(): Promise<void>;
}

/** The bundle could not be loaded. */
export class InitError extends Error {}

interface Message {
  type: 'ready' | 'init-error' | 'result' | 'error' | 'head' | 'chunk' | 'end' | 'done';
  id?: string;
  ms?: number;
  errorType?: string;
  errorMessage?: string;
  payload?: string | null;
  statusCode?: number;
  headers?: Record<string, string>;
  base64?: string;
}

/** @param environment all that the process has. */
export async function startContainer(
  bundle: string,
  environment: Readonly<Record<string, string>>,
): Promise<Container> {
  const child = fork(join(projectRoot(), 'rehearsal', 'lambda-runtime.mjs'), [join(bundle, 'index.mjs')], {
    env: { ...environment },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const stdout = textOf(child.stdout);
  const stderr = textOf(child.stderr);
  const closed = once(child, 'close');
  const [first] = (await once(child, 'message')) as [Message];
  if (first.type !== 'ready') {
    await closed;
    throw new InitError(`${first.errorType}: ${first.errorMessage}`);
  }
  let events = 0;
  const send = (message: object): void => {
    child.send(message);
  };
  function event({ timeoutMs = 60_000, traceHeader }: InvokeOptions) {
    events += 1;
    return {
      type: 'invoke',
      id: String(events),
      timeoutMs,
      ...(traceHeader === undefined ? {} : { traceHeader }),
    };
  }
  return {
    importMs: first.ms ?? Number.NaN,
    async invoke(payload, options = {}) {
      const message = event(options);
      const answer = answerOf(child, message.id, (each) => each.type === 'result');
      send({ ...message, event: payload });
      const { payload: text } = await answer;
      return text == null ? undefined : JSON.parse(text);
    },
    async stream(payload, { onChunk, ...options } = {}) {
      const message = event(options);
      const streamed: Streamed = { statusCode: 0, headers: {}, body: '', chunks: 0 };
      const answer = answerOf(child, message.id, (each) => {
        if (each.type === 'head') {
          streamed.statusCode = each.statusCode ?? 0;
          streamed.headers = each.headers ?? {};
        } else if (each.type === 'chunk') {
          const text = Buffer.from(each.base64 ?? '', 'base64').toString();
          streamed.body += text;
          streamed.chunks += 1;
          onChunk?.(text, () => send({ type: 'gone', id: message.id }));
        }
        return each.type === 'done';
      });
      send({ ...message, event: payload });
      await answer;
      return streamed;
    },
    stdout,
    stderr,
    async stop() {
      child.kill();
      await closed;
    },
  };
}

/** The handler's error, with its name: machines know failures by it. */
function handlerError({ errorType = 'Error', errorMessage = '' }: Message): Error {
  const error = new Error(errorMessage);
  error.name = errorType;
  error.stack = `${errorType}: ${errorMessage}`;
  return error;
}

/** What a stream has given so far. */
function textOf(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  return () => text;
}

/** Resolves with the message that `isLast` accepts; rejects with the handler's error or the end of the process. */
function answerOf(child: ChildProcess, id: string, isLast: (message: Message) => boolean): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('the process ended before it answered'));
    const onMessage = (message: Message): void => {
      if (message.id !== id) return;
      if (message.type === 'error') done(() => reject(handlerError(message)));
      else if (isLast(message)) done(() => resolve(message));
    };
    function done(settle: () => void): void {
      child.off('message', onMessage);
      child.off('exit', onExit);
      settle();
    }
    child.on('message', onMessage);
    child.once('exit', onExit);
  });
}
