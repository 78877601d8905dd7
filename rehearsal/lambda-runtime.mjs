/**
 * Lambda's Node.js runtime, as far as our functions meet it: a process of its own that loads a bundle and runs its handler.
 * It is plain JavaScript because nothing bundles it: `fork('rehearsal/lambda-runtime.mjs', [BUNDLE], { env, serialization:
 * 'json' })`. The environment is what the parent gives and nothing else; stdout and stderr are the function's log.
 *
 *     child → parent   { type: 'ready', streaming, ms }                    the bundle is loaded, in so many milliseconds
 *                      { type: 'init-error', errorType, errorMessage }     it could not be; the process ends
 *     parent → child   { type: 'invoke', id, event, timeoutMs, traceHeader? }
 *                      { type: 'gone', id }                                the reader of a streamed answer has gone
 *     child → parent   { type: 'result', id, payload }                     payload: JSON text, or null as the runtime has it
 *                      { type: 'error', id, errorType, errorMessage, trace }
 *                      { type: 'head', id, statusCode, headers }           of a streamed answer; comes with its first write
 *                      { type: 'chunk', id, base64 }
 *                      { type: 'end', id }                                 without a head before it: the answer had none
 *                      { type: 'done', id }                                the handler has ended too: the next event may come
 *
 * Lambda gives a process one event at a time. Here the parent may send several, which then share `_X_AMZN_TRACE_ID`.
 * Source: what aws-lambda-nodejs-runtime-interface-client documents of itself; Lambda developer guide, "Response streaming".
 */
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';

const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');
/** Before the body of a streamed answer the runtime writes its head; `write` below does it at the same moment. */
const HEAD = Symbol('head');

globalThis.awslambda = {
  streamifyResponse(handler) {
    handler[STREAMING] = true;
    return handler;
  },
  HttpResponseStream: {
    from(stream, head) {
      // The runtime serializes it, so what JSON cannot hold is lost here too.
      stream[HEAD] = JSON.parse(JSON.stringify(head));
      return stream;
    },
  },
};

const send = (message, done) => process.send(message, done);

function faultOf(error) {
  const { name, message, stack } =
    error instanceof Error ? error : { name: typeof error, message: String(error) };
  return { errorType: name, errorMessage: message, trace: (stack ?? '').split('\n') };
}

/** A handler's response stream. Like the runtime's it is a Writable that is never to be destroyed by the handler. */
function responseStream(id) {
  let first = true;
  const stream = new Writable({
    write(chunk, _encoding, done) {
      send({ type: 'chunk', id, base64: chunk.toString('base64') }, (error) => done(error));
    },
    final(done) {
      send({ type: 'end', id }, () => done());
    },
  });
  const write = stream.write.bind(stream);
  stream.write = (...args) => {
    if (first && stream[HEAD] !== undefined) send({ type: 'head', id, headers: {}, ...stream[HEAD] });
    first = false;
    return write(...args);
  };
  return stream;
}

const streams = new Map();

async function invoke(handler, { id, event, timeoutMs, traceHeader }) {
  const until = Date.now() + timeoutMs;
  if (traceHeader === undefined) delete process.env._X_AMZN_TRACE_ID;
  else process.env._X_AMZN_TRACE_ID = traceHeader;
  const context = {
    awsRequestId: randomUUID(),
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME ?? 'function',
    functionVersion: '$LATEST',
    invokedFunctionArn: process.env.AWS_LAMBDA_FUNCTION_ARN ?? '',
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE ?? '128',
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME ?? '',
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME ?? '',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => until - Date.now(),
  };
  try {
    if (handler[STREAMING] !== true) {
      const answer = await handler(event, context);
      send({ type: 'result', id, payload: JSON.stringify(answer) ?? null });
      return;
    }
    const stream = responseStream(id);
    streams.set(id, stream);
    await handler(event, stream, context);
    if (!stream.writableEnded && !stream.destroyed) stream.end();
    // Rejects where the reader has gone, which is no fault of the handler.
    await finished(stream).catch(() => undefined);
  } catch (error) {
    send({ type: 'error', id, ...faultOf(error) });
  } finally {
    streams.delete(id);
    send({ type: 'done', id });
  }
}

async function start() {
  const [bundle, name = 'handler'] = process.argv.slice(2);
  const began = performance.now();
  let handler;
  try {
    ({ [name]: handler } = await import(pathToFileURL(bundle).href));
    if (typeof handler !== 'function') throw new TypeError(`${name} is not exported, or is no function`);
  } catch (error) {
    send({ type: 'init-error', ...faultOf(error) }, () => process.exit(1));
    return;
  }
  process.on('message', (message) => {
    if (message.type === 'invoke') void invoke(handler, message);
    else if (message.type === 'gone') streams.get(message.id)?.destroy();
  });
  // A parent that is gone needs no function.
  process.on('disconnect', () => process.exit(0));
  send({ type: 'ready', streaming: handler[STREAMING] === true, ms: performance.now() - began });
}

await start();
