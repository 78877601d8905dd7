/**
 * A function as Lambda runs it: containers, each a process of its own that holds one event at a time, with nothing in its
 * environment but what the function has on AWS. A second event at the same time starts a second container; when there are as many as
 * may be, it waits. A container that does not answer in time is killed, as on AWS.
 *
 * What is not so here: containers are not frozen between events, and /tmp is this machine's (`TMPDIR` names a folder of theirs).
 * Source: Lambda developer guide, "Defined runtime environment variables", "Lambda function scaling", "Lambda execution environment".
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { Json } from '../lib/blueprint/json.ts';
import { createGate } from '../lib/downstream/gate.ts';

export interface FunctionSpec {
  name: string;
  arn: string;
  /** Folder of the asset. */
  folder: string;
  /** `index.handler`. */
  handler: string;
  /** The template's variables and those that aim the SDK. */
  environment: Readonly<Record<string, string>>;
  timeoutSeconds: number;
  memoryMb: number;
  /** Stands in for the role: the recorder reads from it who asks. */
  accessKey: string;
  region: string;
}

export interface FunctionOptions {
  /** Path of rehearsal/lambda-runtime.mjs. */
  runtime: string;
  /** For containers' temporary files. */
  folder: string;
  /** Default 4. */
  maxContainers?: number;
  /** A line that the function wrote, or what happened to a container. */
  log(line: string): void;
}

/** An answer that is no stream, as Lambda's Invoke has it. */
export interface Answer {
  /** JSON text, also of an error. */
  payload: string;
  functionError?: 'Unhandled';
}

/** What a streamed answer begins with; absent where the handler wrote none. */
export interface StreamHead {
  statusCode: number;
  headers: Readonly<Record<string, string>>;
  cookies?: readonly string[];
}

export interface StreamReader {
  head(head: StreamHead): void;
  chunk(bytes: Buffer): void;
  /** The whole answer was written, or it broke off. */
  end(error?: { errorType: string; errorMessage: string }): void;
}

export interface LambdaProcess {
  invoke(event: Json, traceHeader?: string): Promise<Answer>;
  /** Resolves when the answer has ended. Aborting the signal tells the handler that its reader has gone. */
  stream(event: Json, reader: StreamReader, signal?: AbortSignal): Promise<void>;
  /** Process ids of all containers that live. */
  pids(): number[];
  /** Ends all containers; resolves when none is left. */
  close(): Promise<void>;
}

/** What the child sends; see lambda-runtime.mjs. */
type Message =
  | { type: 'ready'; streaming: boolean; ms: number }
  | { type: 'init-error'; errorType: string; errorMessage: string }
  | { type: 'result'; id: string; payload: string | null }
  | { type: 'error'; id: string; errorType: string; errorMessage: string; trace: string[] }
  | ({ type: 'head'; id: string } & StreamHead)
  | { type: 'chunk'; id: string; base64: string }
  | { type: 'end'; id: string }
  | { type: 'done'; id: string };

interface Container {
  child: ChildProcess;
  /** Resolves with what went wrong, or undefined when it may be given events. */
  ready: Promise<string | undefined>;
  busy: boolean;
  dead: boolean;
  listener: ((message: Message) => void) | undefined;
  /** Told when the process has ended, however. */
  onExit: ((why: string) => void) | undefined;
}

export function createLambdaProcess(spec: FunctionSpec, options: FunctionOptions): LambdaProcess {
  const { maxContainers = 4, log } = options;
  const containers = new Set<Container>();
  const gate = createGate(maxContainers);
  const folders: string[] = [];
  let events = 0;
  let closed = false;

  async function start(): Promise<Container> {
    const tmp = await mkdtemp(join(options.folder, `${spec.name.slice(0, 40)}-`));
    folders.push(tmp);
    const [module = 'index', exported = 'handler'] = spec.handler.split('.');
    const child = fork(options.runtime, [join(spec.folder, `${module}.mjs`), exported], {
      cwd: spec.folder,
      env: { ...lambdaVariables(spec), ...spec.environment, TMPDIR: tmp },
      execArgv: [],
      serialization: 'json',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const container: Container = {
      child,
      busy: true,
      dead: false,
      listener: undefined,
      onExit: undefined,
      ready: new Promise((resolve) => {
        child.once('message', (message: Message) => {
          if (message.type === 'ready') resolve(undefined);
          else if (message.type === 'init-error') resolve(`${message.errorType}: ${message.errorMessage}`);
        });
        child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`));
        child.once('error', (error) => resolve(error.message));
      }),
    };
    containers.add(container);
    for (const output of [child.stdout, child.stderr]) {
      output?.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n')) if (line !== '') log(`${spec.name}: ${line}`);
      });
    }
    child.on('message', (message: Message) => container.listener?.(message));
    child.once('exit', (code, signal) => {
      container.dead = true;
      containers.delete(container);
      container.onExit?.(`exit status ${signal ?? code}`);
    });
    return container;
  }

  /** One event in one container; `listen` is told all that comes of it and answers true when it is over. */
  async function run(
    event: Json,
    traceHeader: string | undefined,
    listen: (message: Message) => boolean,
    failed: (errorType: string, errorMessage: string) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    await gate.enter();
    try {
      if (closed) throw new Error(`${spec.name} is closed`);
      const container = [...containers].find((each) => !each.busy) ?? (await start());
      container.busy = true;
      const broken = await container.ready;
      if (broken !== undefined) {
        failed('Runtime.ExitError', `The function could not be started: ${broken}`);
        return;
      }
      await inContainer(container, event, traceHeader, listen, failed, signal);
      container.busy = false;
    } finally {
      gate.leave();
    }
  }

  async function inContainer(
    container: Container,
    event: Json,
    traceHeader: string | undefined,
    listen: (message: Message) => boolean,
    failed: (errorType: string, errorMessage: string) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    events += 1;
    const id = String(events);
    const timeoutMs = spec.timeoutSeconds * 1000;
    let over = false;
    const gone = (): void => void container.child.send({ type: 'gone', id }, () => undefined);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        log(`${spec.name}: Task timed out after ${spec.timeoutSeconds} seconds`);
        if (!over)
          failed('Sandbox.Timedout', `Task timed out after ${spec.timeoutSeconds.toFixed(2)} seconds`);
        over = true;
        container.child.kill('SIGKILL');
      }, timeoutMs);
      const finish = (): void => {
        clearTimeout(timer);
        container.listener = undefined;
        container.onExit = undefined;
        resolve();
      };
      container.onExit = (why) => {
        if (!over) failed('Runtime.ExitError', `The container ended: ${why}`);
        over = true;
        finish();
      };
      container.listener = (message) => {
        if (!('id' in message) || message.id !== id) return;
        if (message.type === 'done') {
          // The handler has ended too; only now may the container be given another event.
          finish();
          return;
        }
        over = listen(message) || over;
      };
      container.child.send(
        { type: 'invoke', id, event, timeoutMs, ...(traceHeader === undefined ? {} : { traceHeader }) },
        (error) => {
          if (error !== null && !container.dead) container.child.kill('SIGKILL');
        },
      );
      if (signal?.aborted === true) gone();
      signal?.addEventListener('abort', gone, { once: true });
    });
    signal?.removeEventListener('abort', gone);
  }

  return {
    async invoke(event, traceHeader) {
      let answer: Answer | undefined;
      const unhandled = (errorType: string, errorMessage: string, trace: string[] = []): void => {
        answer ??= {
          payload: JSON.stringify({ errorType, errorMessage, trace }),
          functionError: 'Unhandled',
        };
      };
      await run(
        event,
        traceHeader,
        (message) => {
          if (message.type === 'result') answer = { payload: message.payload ?? 'null' };
          if (message.type === 'error') unhandled(message.errorType, message.errorMessage, message.trace);
          return answer !== undefined;
        },
        unhandled,
      );
      return answer ?? { payload: 'null' };
    },
    stream(event, reader, signal) {
      let ended = false;
      const end = (error?: { errorType: string; errorMessage: string }): boolean => {
        if (!ended) reader.end(error);
        ended = true;
        return true;
      };
      return run(
        event,
        undefined,
        (message) => {
          if (message.type === 'head') reader.head(message);
          if (message.type === 'chunk') reader.chunk(Buffer.from(message.base64, 'base64'));
          if (message.type === 'end') return end();
          if (message.type === 'error') return end(message);
          return ended;
        },
        (errorType, errorMessage) => void end({ errorType, errorMessage }),
        signal,
      ).finally(() => end());
    },
    pids: () => [...containers].flatMap((each) => each.child.pid ?? []),
    async close() {
      closed = true;
      await Promise.all([...containers].map((container) => endContainer(container.child)));
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}

/** What a function has of its own on AWS, as far as code reads it. */
function lambdaVariables(spec: FunctionSpec): Record<string, string> {
  return {
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    LAMBDA_TASK_ROOT: spec.folder,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_REGION: spec.region,
    AWS_DEFAULT_REGION: spec.region,
    AWS_LAMBDA_FUNCTION_NAME: spec.name,
    AWS_LAMBDA_FUNCTION_ARN: spec.arn,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${spec.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'rehearsal/[$LATEST]',
    AWS_ACCESS_KEY_ID: spec.accessKey,
    AWS_SECRET_ACCESS_KEY: 'rehearsal',
    AWS_SESSION_TOKEN: 'rehearsal',
  };
}

/** A container whose parent lets go of it ends by itself, and with it what it started; it is killed if it stays. */
async function endContainer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), 3_000);
  await ended;
  clearTimeout(timer);
}
