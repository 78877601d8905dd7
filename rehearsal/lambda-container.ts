/**
 * One container of a function: a process that loads the bundle once and holds one event at a time, with nothing in its environment but
 * what the function has on AWS. One that does not answer in time is killed, as on AWS.
 *
 * What is not so here: it is not frozen between events, and /tmp is this machine's (`TMPDIR` names a folder of its own).
 * Source: Lambda developer guide, "Defined runtime environment variables", "Lambda execution environment".
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { Json } from '../lib/blueprint/json.ts';

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

export interface ContainerOptions {
  /** Path of rehearsal/lambda-runtime.mjs. */
  runtime: string;
  /** For temporary files. */
  folder: string;
  /** A line that the function wrote, or what happened to the container. */
  log(line: string): void;
}

/** What a streamed answer begins with. */
export interface StreamHead {
  statusCode: number;
  headers: Readonly<Record<string, string>>;
  cookies?: readonly string[];
}

/** What comes of an event; see lambda-runtime.mjs. */
export type Answering =
  | { type: 'result'; id: string; payload: string | null }
  | { type: 'error'; id: string; errorType: string; errorMessage: string; trace: string[] }
  | ({ type: 'head'; id: string } & StreamHead)
  | { type: 'chunk'; id: string; base64: string }
  | { type: 'end'; id: string };

type Message =
  | { type: 'ready'; streaming: boolean; ms: number }
  | { type: 'init-error'; errorType: string; errorMessage: string }
  | Answering
  | { type: 'done'; id: string };

export interface EventWork {
  event: Json;
  traceHeader?: string;
  /** Told all that comes of the event; answers true when the answer is whole. */
  listen(message: Answering): boolean;
  /** The answer will not come: the container ended or took too long. */
  failed(errorType: string, errorMessage: string): void;
  /** Aborted when nobody reads the answer any more. */
  signal?: AbortSignal;
}

export interface Container {
  pid: number | undefined;
  /** False once the process has ended. */
  alive(): boolean;
  /** Resolves when the handler has ended, not only its answer: then the next event may come. */
  handle(work: EventWork): Promise<void>;
  /** Ends the process, and with it what it started. */
  end(): Promise<void>;
}

/** A bundle that takes longer to load has hung; Lambda allows ten seconds, on a machine with nothing else to do. */
const MAX_INIT_MS = 60_000;
const END_GRACE_MS = 3_000;

/** Starts the process; resolves before its bundle is loaded. */
export async function startContainer(spec: FunctionSpec, options: ContainerOptions): Promise<Container> {
  const { log } = options;
  const tmp = await mkdtemp(join(options.folder, `${spec.name.slice(0, 40)}-`));
  const [module = 'index', exported = 'handler'] = spec.handler.split('.');
  const child = fork(options.runtime, [join(spec.folder, `${module}.mjs`), exported], {
    cwd: spec.folder,
    env: { ...lambdaVariables(spec), ...spec.environment, TMPDIR: tmp },
    execArgv: [],
    serialization: 'json',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  let ended: string | undefined;
  let listener: ((message: Message) => void) | undefined;
  let onEnd: ((why: string) => void) | undefined;
  let events = 0;
  const noteEnd = (why: string): void => {
    ended ??= why;
    onEnd?.(why);
  };
  /** Resolves with what went wrong, or undefined when events may come. */
  const ready = new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(kill, MAX_INIT_MS);
    const settle = (why?: string): void => {
      clearTimeout(timer);
      resolve(why);
    };
    child.once('message', (message: Message) => {
      if (message.type === 'ready') settle();
      else if (message.type === 'init-error') settle(`${message.errorType}: ${message.errorMessage}`);
    });
    child.once('exit', (code, signal) => settle(`it ended with ${signal ?? code}`));
    child.once('error', (error) => settle(error.message));
  });
  child.on('message', (message: Message) => listener?.(message));
  child.once('exit', (code, signal) => noteEnd(`exit status ${signal ?? code}`));
  child.on('error', (error) => noteEnd(error.message));
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) if (line !== '') log(`${spec.name}: ${line}`);
    });
  }

  async function handle({ event, traceHeader, listen, failed, signal }: EventWork): Promise<void> {
    const broken = await ready;
    if (broken !== undefined) {
      failed('Runtime.ExitError', `The function could not be started: ${broken}`);
      return;
    }
    events += 1;
    const id = String(events);
    const timeoutMs = spec.timeoutSeconds * 1000;
    const gone = (): void => void (child.connected && child.send({ type: 'gone', id }, () => undefined));
    let whole = false;
    const fail = (errorType: string, errorMessage: string): void => {
      if (!whole) failed(errorType, errorMessage);
      whole = true;
    };
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        log(`${spec.name}: Task timed out after ${spec.timeoutSeconds} seconds`);
        fail('Sandbox.Timedout', `Task timed out after ${spec.timeoutSeconds.toFixed(2)} seconds`);
        kill();
      }, timeoutMs);
      const finish = (): void => {
        clearTimeout(timer);
        listener = undefined;
        onEnd = undefined;
        resolve();
      };
      onEnd = (why) => {
        fail('Runtime.ExitError', `The container ended: ${why}`);
        finish();
      };
      listener = (message) => {
        if (!('id' in message) || message.id !== id) return;
        if (message.type === 'done') finish();
        else whole = listen(message) || whole;
      };
      if (ended !== undefined) {
        onEnd(ended);
        return;
      }
      const invoke = { type: 'invoke', id, event, timeoutMs };
      child.send(traceHeader === undefined ? invoke : { ...invoke, traceHeader }, (error) => {
        if (error !== null) kill();
      });
      if (signal?.aborted === true) gone();
      signal?.addEventListener('abort', gone, { once: true });
    });
    signal?.removeEventListener('abort', gone);
  }

  return {
    pid: child.pid,
    alive: () => ended === undefined,
    handle,
    async end() {
      if (ended === undefined) {
        const exit = once(child, 'exit');
        // A process whose parent lets go of it ends by itself, and its servers with it; it is killed if it stays.
        if (child.connected) child.disconnect();
        const timer = setTimeout(kill, END_GRACE_MS);
        await exit;
        clearTimeout(timer);
      }
      await rm(tmp, { recursive: true, force: true });
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
