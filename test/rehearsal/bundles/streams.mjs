/** A streaming function for the tests: tells what it got, in pieces. */
import { setTimeout as sleep } from 'node:timers/promises';

export const handler = globalThis.awslambda.streamifyResponse(async (event, stream) => {
  const { rawPath } = event;
  if (rawPath === '/throws') throw new Error('before the head');
  if (rawPath === '/empty') return;
  const http = globalThis.awslambda.HttpResponseStream.from(stream, {
    statusCode: rawPath === '/teapot' ? 418 : 200,
    headers: { 'content-type': 'application/json', 'x-of-ours': 'yes' },
  });
  http.write('[1,');
  if (rawPath === '/hang') {
    const gone = new Promise((resolve) => stream.once('close', resolve));
    await gone;
    console.log('the reader has gone');
    return;
  }
  await sleep(20);
  http.write(JSON.stringify(event));
  http.end(']');
  // Work after the answer, before the event is over.
  await sleep(20);
  console.log('after the answer');
});
