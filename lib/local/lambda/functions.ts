/**
 * Functions in this process, invoked as Lambda invokes them: JSON text in and out, so no object is shared between caller
 * and function; time limits, size limits and error payloads as AWS has them. The local Step Functions and the HTTP API
 * call the same `invoke`.
 *
 * What it cannot do is end a handler: one that outlives its time limit is answered for, as on AWS, but goes on running.
 * Sources: Lambda developer guide, "Invoking functions" and "Lambda quotas"; what the Node.js runtime makes of errors.
 */
import { randomUUID } from 'node:crypto';
import { types } from 'node:util';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../store/aws-config.ts';
import { type LambdaRequest, type LambdaResponse, LambdaServiceError } from '../step-functions/contract.ts';

/** The context object of the Node.js runtime. */
export interface LambdaContext {
  functionName: string;
  functionVersion: string;
  invokedFunctionArn: string;
  awsRequestId: string;
  memoryLimitInMB: string;
  logGroupName: string;
  logStreamName: string;
  callbackWaitsForEmptyEventLoop: boolean;
  getRemainingTimeInMillis(): number;
}

export type LambdaHandler = (event: unknown, context: LambdaContext) => Promise<unknown>;

export interface LambdaFunction {
  handler: LambdaHandler;
  /** Default 900, Lambda's maximum. */
  timeoutSeconds?: number;
}

export interface LambdaOptions {
  functions: Readonly<Record<string, LambdaHandler | LambdaFunction>>;
  /** What an asynchronous invocation came to when all its tries had failed. */
  onAsyncFailure?: (functionName: string, payload: string) => void;
  /** Delays before an asynchronous invocation's second and third try. Default: AWS's, one and two minutes. */
  asyncRetryDelaysMs?: readonly number[];
}

export interface LambdaService {
  /**
   * Invokes a function. `RequestResponse` resolves with its answer, `Event` once it is accepted. A function that throws or
   * runs out of time is an answer with `functionError`. Rejects with `LambdaServiceError` where Lambda itself
   * refuses, and with the signal's reason when that is aborted (the function goes on, as on AWS).
   */
  invoke(request: LambdaRequest): Promise<LambdaResponse>;
  /** Refuses a function that is not there; answers its name and ARN. */
  find(functionName: string, qualifier?: string): { name: string; arn: string; timeoutSeconds: number };
  names(): string[];
  /** Drops retries that are due; waits `graceMs` (default 2,000) at most for functions that still run. */
  close(graceMs?: number): Promise<void>;
}

export const MAX_SYNC_BYTES = 6 * 1024 * 1024;
const MAX_ASYNC_BYTES = 1024 * 1024;
/** Lambda allows an answer a little more than a request. */
const MAX_RESPONSE_BYTES = MAX_SYNC_BYTES + 100;
const DEFAULT_TIMEOUT_SECONDS = 900;
const ASYNC_RETRY_DELAYS_MS = [60_000, 120_000];
const VERSION = '$LATEST';

/** Makes the service; functions are known by their names. */
export function createLambda(options: LambdaOptions): LambdaService {
  const { onAsyncFailure = () => {}, asyncRetryDelaysMs = ASYNC_RETRY_DELAYS_MS } = options;
  const functions = new Map(
    Object.entries(options.functions).map(([name, given]): [string, LambdaFunction] => [
      name,
      typeof given === 'function' ? { handler: given } : given,
    ]),
  );
  const running = new Set<Promise<unknown>>();
  const retries = new Set<NodeJS.Timeout>();
  let closed = false;

  function find(functionName: string, qualifier?: string) {
    const named = parseFunctionName(functionName, qualifier);
    const found = named === undefined ? undefined : functions.get(named.name);
    if (named === undefined || found === undefined || (named.qualifier ?? VERSION) !== VERSION) {
      const name = named?.name ?? functionName;
      const suffix = named?.qualifier === undefined ? '' : `:${named.qualifier}`;
      throw refuse('ResourceNotFoundException', `Function not found: ${arnOf(name)}${suffix}`, 404);
    }
    return {
      name: named.name,
      arn: arnOf(named.name),
      timeoutSeconds: found.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
      handler: found.handler,
    };
  }

  async function run(
    target: ReturnType<typeof find>,
    payload: string,
    requestId: string,
  ): Promise<LambdaResponse> {
    const answer = (text: string, functionError?: string): LambdaResponse => ({
      statusCode: 200,
      executedVersion: VERSION,
      payload: text,
      requestId,
      ...(functionError === undefined ? {} : { functionError }),
    });
    const deadline = Date.now() + target.timeoutSeconds * 1000;
    const context: LambdaContext = {
      functionName: target.name,
      functionVersion: VERSION,
      invokedFunctionArn: target.arn,
      awsRequestId: requestId,
      memoryLimitInMB: '1024',
      logGroupName: `/aws/lambda/${target.name}`,
      logStreamName: `local/[${VERSION}]`,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    const work = (async () => JSON.stringify((await target.handler(JSON.parse(payload), context)) ?? null))();
    running.add(work);
    const done = (): void => void running.delete(work);
    work.then(done, done);

    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), target.timeoutSeconds * 1000);
    });
    try {
      const text = await Promise.race([work, timeout]);
      if (text === undefined) {
        const seconds = target.timeoutSeconds.toFixed(2);
        return answer(
          JSON.stringify({
            errorType: 'Sandbox.Timedout',
            errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`,
          }),
          'Unhandled',
        );
      }
      if (Buffer.byteLength(text) > MAX_RESPONSE_BYTES) {
        return answer(
          JSON.stringify({
            errorType: 'Function.ResponseSizeTooLarge',
            errorMessage: `Response payload size exceeded maximum allowed payload size (${MAX_RESPONSE_BYTES} bytes).`,
          }),
          'Unhandled',
        );
      }
      return answer(text);
    } catch (error) {
      return answer(JSON.stringify(errorPayload(error)), 'Unhandled');
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tries in the background, as the event queue of Lambda does: three times in all, then the event is given up. */
  function runLater(target: ReturnType<typeof find>, payload: string, requestId: string, tries = 0): void {
    void run(target, payload, requestId).then((response) => {
      if (response.functionError === undefined || closed) return;
      const delay = asyncRetryDelaysMs[tries];
      if (delay === undefined) {
        onAsyncFailure(target.name, response.payload);
        return;
      }
      const timer = setTimeout(() => {
        retries.delete(timer);
        runLater(target, payload, requestId, tries + 1);
      }, delay);
      retries.add(timer);
    });
  }

  return {
    find: (functionName, qualifier) => {
      const { name, arn, timeoutSeconds } = find(functionName, qualifier);
      return { name, arn, timeoutSeconds };
    },
    names: () => [...functions.keys()],
    async invoke(request) {
      const target = find(request.functionName, request.qualifier);
      if (closed) throw refuse('ServiceException', 'The local Lambda is stopping.', 500);
      checkPayload(request);
      const requestId = randomUUID();
      if (request.invocationType === 'Event') {
        runLater(target, request.payload, requestId);
        return { statusCode: 202, executedVersion: VERSION, payload: '', requestId };
      }
      return unlessAborted(run(target, request.payload, requestId), request.signal);
    },
    async close(graceMs = 2_000) {
      closed = true;
      for (const timer of retries) clearTimeout(timer);
      retries.clear();
      let timer: NodeJS.Timeout | undefined;
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.allSettled(running), grace]);
      clearTimeout(timer);
    },
  };
}

function checkPayload(request: LambdaRequest): void {
  const limit = request.invocationType === 'Event' ? MAX_ASYNC_BYTES : MAX_SYNC_BYTES;
  const bytes = Buffer.byteLength(request.payload);
  if (bytes > limit) {
    throw refuse(
      'RequestTooLargeException',
      `${bytes} byte payload is too large for the ${request.invocationType} invocation type (limit ${limit} bytes)`,
      413,
    );
  }
  try {
    JSON.parse(request.payload);
  } catch (error) {
    throw refuse(
      'InvalidRequestContentException',
      `Could not parse request body into json: ${error instanceof Error ? error.message : 'invalid'}`,
      400,
    );
  }
}

/** What the runtime answers for a thrown value. */
function errorPayload(error: unknown): { errorType: string; errorMessage: string; trace: string[] } {
  if (error instanceof Error || types.isNativeError(error)) {
    return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') };
  }
  return { errorType: typeof error, errorMessage: String(error), trace: [] };
}

/**
 * Name, qualifier: from `name`, `name:qualifier`, `account:function:name`, or an ARN with or without a qualifier.
 * Undefined: it names no function of this account and region.
 */
function parseFunctionName(
  text: string,
  qualifier: string | undefined,
): { name: string; qualifier?: string } | undefined {
  const match =
    /^(?:(?:arn:aws:lambda:([a-z0-9-]+):)?(\d{12}):function:)?([A-Za-z0-9_-]{1,64})(?::([A-Za-z0-9$_-]{1,128}))?$/.exec(
      text,
    );
  if (match === null) return undefined;
  const [, region = LOCAL_REGION, account = LOCAL_ACCOUNT, name = '', inName] = match;
  if (region !== LOCAL_REGION || account !== LOCAL_ACCOUNT) return undefined;
  const chosen = qualifier ?? inName;
  return { name, ...(chosen === undefined ? {} : { qualifier: chosen }) };
}

function arnOf(name: string): string {
  return `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${name}`;
}

function refuse(name: string, message: string, statusCode: number): LambdaServiceError {
  return new LambdaServiceError(name, message, statusCode, randomUUID());
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
