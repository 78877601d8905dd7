/** The JSON protocol itself, without the SDK between. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Running, startService } from './harness.ts';

let running: Running;
beforeAll(async () => {
  running = await startService();
});
afterAll(async () => {
  await running.close();
  expect(running.failures).toEqual([]);
});

async function post(operation: string | undefined, body: string, method = 'POST') {
  const response = await fetch(running.url, {
    method,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      ...(operation === undefined ? {} : { 'x-amz-target': operation }),
    },
    ...(method === 'POST' ? { body } : {}),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

test('an answer has the protocol’s type and a request id', async () => {
  const { status, headers, body } = await post('AWSStepFunctions.ListStateMachines', '{}');
  expect(status).toBe(200);
  expect(body).toEqual({ stateMachines: [] });
  expect(headers.get('content-type')).toBe('application/x-amz-json-1.0');
  expect(headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/);
});

test.each([
  [
    'an operation that is not there',
    'AWSStepFunctions.GetActivityTask',
    '{}',
    'POST',
    400,
    'UnknownOperationException',
  ],
  ['a name of every object', 'AWSStepFunctions.constructor', '{}', 'POST', 400, 'UnknownOperationException'],
  ['another service', 'DynamoDB_20120810.ListTables', '{}', 'POST', 400, 'UnknownOperationException'],
  ['no target', undefined, '{}', 'POST', 400, 'UnknownOperationException'],
  ['GET', 'AWSStepFunctions.ListStateMachines', '', 'GET', 400, 'UnknownOperationException'],
  ['no JSON', 'AWSStepFunctions.ListStateMachines', '{"a"', 'POST', 400, 'SerializationException'],
  ['no object', 'AWSStepFunctions.ListStateMachines', '[]', 'POST', 400, 'SerializationException'],
  [
    'a number for a string',
    'AWSStepFunctions.DescribeExecution',
    '{"executionArn":1}',
    'POST',
    400,
    'ValidationException',
  ],
  [
    'a missing member',
    'AWSStepFunctions.DescribeExecution',
    '{"executionArn":null}',
    'POST',
    400,
    'ValidationException',
  ],
  [
    'a body over 4 MiB',
    'AWSStepFunctions.ListStateMachines',
    ' '.repeat(4 * 1024 * 1024 + 1),
    'POST',
    413,
    'RequestEntityTooLargeException',
  ],
])('refuses %s', async (_, operation, text, method, status, type) => {
  const answer = await post(operation, text, method);
  expect([answer.status, answer.body.__type]).toEqual([status, type]);
  expect(typeof answer.body.message).toBe('string');
});

test('a caller that goes away in the middle of its request is no failure', async () => {
  const { hostname, port } = new URL(running.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    'POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: AWSStepFunctions.ListStateMachines\r\nContent-Length: 100\r\n\r\n{',
  );
  await once(socket, 'connect');
  socket.resetAndDestroy();
  await once(socket, 'close');
  expect((await post('AWSStepFunctions.ListStateMachines', '{}')).status).toBe(200);
});

test('all violations are told at once', async () => {
  const { body } = await post('AWSStepFunctions.StartExecution', '{"name":"","input":3}');
  expect(body.message).toBe(
    "3 validation errors detected: Value null at 'stateMachineArn' failed to satisfy constraint: Member must not be null; " +
      "Value '' at 'name' failed to satisfy constraint: Member must have length greater than or equal to 1; " +
      "Value '3' at 'input' failed to satisfy constraint: Member must be a string",
  );
});
