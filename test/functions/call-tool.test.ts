/** What call-tool answers to events that no machine and no endpoint sends: one line of our own, whatever came. */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOCAL_FUNCTIONS } from '../../lib/cli/local-names.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;
let lambda: LambdaClient;

beforeAll(async () => {
  engine = await startRunningEngine({});
  const endpoint = engine.endpoints.lambda;
  lambda = new LambdaClient(clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint }));
});
afterAll(async () => {
  lambda.destroy();
  await engine.end();
});

const TASK = {
  abi: 1,
  run: '../run',
  execution: 'e',
  epoch: 0,
  at: '',
  step: 's',
  hash: 'h',
  workflow: '../w',
};

it.each<[string, unknown]>([
  ['nothing', null],
  ['a number', 7],
  ['a list', []],
  ['an op that is a name of Object', { op: 'constructor' }],
  ['another abi', { ...TASK, abi: 99, op: 'call' }],
  ['an unknown op', { ...TASK, op: '__proto__' }],
  ['a workflow and a run that are paths', { ...TASK, op: 'call' }],
  ['a begin without anything', { abi: 1, op: 'begin' }],
  ['a dry run of no document', { op: 'dryRun', workflow: 'w', hash: 'h', params: {} }],
])('%s', async (_, event) => {
  const { FunctionError, Payload } = await lambda.send(
    new InvokeCommand({ FunctionName: LOCAL_FUNCTIONS.callTool, Payload: JSON.stringify(event) }),
  );
  const { errorType, errorMessage, trace } = JSON.parse(Buffer.from(Payload ?? []).toString());
  expect(FunctionError).toBe('Unhandled');
  expect(trace).toEqual([`${errorType}: ${errorMessage}`]);
  expect(errorMessage).toMatch(/^this engine does not know|^an unexpected fault inside the engine/);
});
