/** Task: what reaches a function or a nested machine, what comes back, and the ways in which a call fails. */
import { describe, expect, test } from 'vitest';
import type { StateMachine, TaskState } from '../../../../lib/asl/types.ts';
import type { Json, JsonObject } from '../../../../lib/blueprint/json.ts';
import { LambdaServiceError } from '../../../../lib/local/step-functions/contract.ts';
import { call, detailsOf, execute, functionError, machine, traceOf } from './execute.ts';
import { virtualClock } from './virtual-clock.ts';

const FUNCTION_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:work';
const echo = (payload: Json) => payload;

function invoke(Arguments: Json, extra: Partial<TaskState> = {}): StateMachine {
  return machine({
    Work: { Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke', Arguments, End: true, ...extra },
  });
}

describe('lambda:invoke', () => {
  test.each<[string, Json | undefined, Json]>([
    ['an object', { a: [1] }, { a: [1] }],
    ['no payload', undefined, {}],
    ['null', null, {}],
    ['a text, which is the body itself', '{"b":2}', { b: 2 }],
  ])('%s', async (_, payload, expected) => {
    const seen: Json[] = [];
    const given: JsonObject = { FunctionName: 'work' };
    if (payload !== undefined) given.Payload = payload;
    await execute(invoke(given), {
      functions: {
        work: (got) => {
          seen.push(got);
          return null;
        },
      },
    });
    expect(seen).toEqual([expected]);
  });

  test('the result has the fields that the API gives', async () => {
    const { outcome } = await execute(invoke({ FunctionName: FUNCTION_ARN, Payload: { x: 1 } }), {
      functions: { work: echo },
    });
    expect(outcome).toMatchObject({
      output: {
        ExecutedVersion: '$LATEST',
        Payload: { x: 1 },
        SdkHttpMetadata: { HttpStatusCode: 200 },
        SdkResponseMetadata: { RequestId: expect.any(String) },
        StatusCode: 200,
      },
    });
  });

  test('the service refuses', async () => {
    const { outcome, events } = await execute(invoke({ FunctionName: 'work' }), {
      functions: {
        work: () => {
          throw new LambdaServiceError('TooManyRequestsException', 'Rate Exceeded.', 429, 'req-1');
        },
      },
    });
    expect(outcome).toMatchObject({
      status: 'FAILED',
      error: 'Lambda.TooManyRequestsException',
      cause:
        'Rate Exceeded. (Service: AWSLambda; Status Code: 429; Error Code: TooManyRequestsException; Request ID: req-1; Proxy: null)',
    });
    expect(traceOf(events).slice(2)).toEqual([
      '3 TaskScheduled <2',
      '4 TaskStarted <3',
      '5 TaskFailed <4',
      '6 ExecutionFailed <5',
    ]);
  });

  test('nobody answers', async () => {
    const { outcome } = await execute(invoke({ FunctionName: 'absent' }));
    expect(outcome).toMatchObject({ error: 'Lambda.SdkClientException', cause: 'no function absent' });
  });

  test.each<[string, string, string]>([
    ['its type', '{"errorType": "Mine", "errorMessage": "m"}', 'Mine'],
    ['no type', '{"errorMessage": "m"}', 'Lambda.Unknown'],
    ['no JSON', 'panic', 'Lambda.Unknown'],
  ])('a function error with %s', async (_, payload, error) => {
    const { outcome } = await execute(invoke({ FunctionName: 'work' }), {
      functions: {
        work: () => {
          throw functionError('x');
        },
      },
      errorText: () => payload,
    });
    const compact = payload.startsWith('{') ? JSON.stringify(JSON.parse(payload)) : payload;
    expect(outcome).toMatchObject({ status: 'FAILED', error, cause: compact });
  });

  test.each<[string, Json, string]>([
    ['a missing name', { Payload: {} }, 'The field "FunctionName" is required but was missing'],
    [
      'a field that is none',
      { FunctionName: 'work', Nonsense: 1 },
      'The field "Nonsense" is not supported by Step Functions',
    ],
  ])('%s never reaches the function', async (_, given, problem) => {
    const { outcome, events } = await execute(invoke(given), { functions: { work: echo } });
    expect(outcome).toMatchObject({
      error: 'States.Runtime',
      cause: expect.stringContaining(`[${problem}]`),
    });
    expect(events.map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'ExecutionFailed',
    ]);
  });

  test('an asynchronous call answers at once with 202', async () => {
    const { outcome } = await execute(invoke({ FunctionName: 'work', InvocationType: 'Event' }), {
      functions: { work: () => null },
    });
    expect(outcome).toMatchObject({ status: 'SUCCEEDED', output: { StatusCode: 202, Payload: '' } });
  });

  test.each([
    ['in ASCII', 'x'.repeat(256 * 1024)],
    ['in UTF-8', 'é'.repeat(128 * 1024)],
  ])('a result over 256 KiB %s fails the call', async (_, text) => {
    const { outcome, events } = await execute(invoke({ FunctionName: 'work' }), {
      functions: { work: () => text },
    });
    const cause =
      "The state/task 'lambda' returned a result with a size exceeding the maximum number of bytes service limit.";
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded', cause });
    expect(events[4]?.taskFailedEventDetails).toMatchObject({ error: 'States.DataLimitExceeded', cause });
  });
});

describe("a function's own ARN", () => {
  test('the answer is the result', async () => {
    const { outcome, events } = await execute(
      machine({ Work: { Type: 'Task', Resource: FUNCTION_ARN, Arguments: { n: '{% 1 + 1 %}' }, End: true } }),
      { functions: { work: echo } },
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: { n: 2 } });
    expect(events[2]?.lambdaFunctionScheduledEventDetails).toEqual({
      resource: FUNCTION_ARN,
      input: '{"n":2}',
      inputDetails: { truncated: false },
    });
  });

  test('a failure keeps its text as it came', async () => {
    const { outcome } = await execute(
      machine({ Work: { Type: 'Task', Resource: FUNCTION_ARN, End: true } }),
      {
        functions: {
          work: () => {
            throw functionError('Mine');
          },
        },
        errorText: () => '{"errorType": "Mine"}',
      },
    );
    expect(outcome).toMatchObject({ error: 'Mine', cause: '{"errorType": "Mine"}' });
  });
});

describe('time limits', () => {
  async function slow(extra: Partial<TaskState>, seconds: number) {
    const clock = virtualClock();
    let aborted = false;
    const { outcome, events } = await execute(
      machine({ Work: call('work', {}, { ...extra, End: true }), Caught: { Type: 'Succeed' } }),
      {
        clock,
        functions: {
          work: async (_, { signal }) => {
            await clock.sleep(seconds * 1000, signal).catch(() => {
              aborted = true;
            });
            return null;
          },
        },
      },
    );
    return { outcome, events, aborted, elapsed: (clock.now() - Date.UTC(2026, 0, 1)) / 1000 };
  }

  test('TimeoutSeconds ends the call, and the function is told', async () => {
    const { outcome, events, aborted, elapsed } = await slow({ TimeoutSeconds: 5 }, 60);
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    expect(outcome).not.toHaveProperty('cause');
    expect(aborted).toBe(true);
    expect(elapsed).toBe(5);
    expect(events[2]?.taskScheduledEventDetails).toMatchObject({ timeoutInSeconds: 5 });
    expect(events[4]).toMatchObject({
      type: 'TaskTimedOut',
      taskTimedOutEventDetails: { error: 'States.Timeout', resource: 'invoke', resourceType: 'lambda' },
    });
  });

  test('a call within the limit leaves no timer behind', async () => {
    const { outcome, elapsed } = await slow({ TimeoutSeconds: '{% 30 + 30 %}' }, 59);
    expect(outcome.status).toBe('SUCCEEDED');
    expect(elapsed).toBe(59);
  });

  test('a missed heartbeat can be caught by its name', async () => {
    const { outcome, elapsed } = await slow(
      { HeartbeatSeconds: 7, Catch: [{ ErrorEquals: ['States.HeartbeatTimeout'], Next: 'Caught' }] },
      60,
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: { Error: 'States.Timeout', Cause: '' } });
    expect(elapsed).toBe(7);
  });

  test.each([0, 1.5, -1])('%d seconds is no limit', async (seconds) => {
    const { outcome } = await slow({ TimeoutSeconds: `{% ${seconds} %}` }, 1);
    expect(outcome).toMatchObject({ error: 'States.QueryEvaluationError' });
  });
});

describe('states:startExecution', () => {
  const CHILD = 'arn:aws:states:us-east-1:000000000000:stateMachine:child';
  const child = machine({
    Double: { Type: 'Pass', Output: { twice: '{% $states.input.n * 2 %}' }, End: true },
  });

  function start(
    sync: string,
    extra: Partial<TaskState> = {},
    Arguments: Json = { StateMachineArn: CHILD, Name: 'one', Input: { n: 4 } },
  ) {
    return machine({
      Nested: {
        Type: 'Task',
        Resource: `arn:aws:states:::states:startExecution${sync}`,
        Arguments,
        End: true,
        ...extra,
      },
    });
  }

  test('.sync:2 gives the output as JSON', async () => {
    const { outcome, events } = await execute(
      start('.sync:2', { Output: '{% $states.result.Output.twice %}' }),
      {
        machines: { [CHILD]: child },
      },
    );
    expect(outcome).toEqual({ status: 'SUCCEEDED', output: 8 });
    expect(traceOf(events).slice(2, 6)).toEqual([
      '3 TaskScheduled <2',
      '4 TaskStarted <3',
      '5 TaskSubmitted <4',
      '6 TaskSucceeded <5',
    ]);
    expect(events[2]?.taskScheduledEventDetails).toMatchObject({
      resourceType: 'states',
      resource: 'startExecution.sync:2',
      region: 'us-east-1',
    });
  });

  test('.sync gives it as text', async () => {
    const { outcome } = await execute(start('.sync'), { machines: { [CHILD]: child } });
    expect(outcome).toMatchObject({
      output: {
        ExecutionArn: 'arn:aws:states:us-east-1:000000000000:execution:child:one',
        Input: '{"n":4}',
        Name: 'one',
        Output: '{"twice":8}',
        StateMachineArn: CHILD,
        Status: 'SUCCEEDED',
        StartDate: Date.UTC(2026, 0, 1),
      },
    });
  });

  test('without it, the start is the result', async () => {
    const { outcome } = await execute(start(''), { machines: { [CHILD]: child } });
    expect(outcome).toMatchObject({
      output: { ExecutionArn: expect.stringContaining(':child:one'), StartDate: Date.UTC(2026, 0, 1) },
    });
    expect(outcome).not.toHaveProperty('output.Output');
  });

  test('a child that fails is States.TaskFailed with its description', async () => {
    const { outcome } = await execute(start('.sync:2'), {
      machines: { [CHILD]: machine({ F: { Type: 'Fail', Error: 'Inner', Cause: 'because' } }) },
    });
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'States.TaskFailed' });
    expect(JSON.parse(outcome.status === 'FAILED' ? (outcome.cause ?? '') : '')).toMatchObject({
      Error: 'Inner',
      Cause: 'because',
      Status: 'FAILED',
      Name: 'one',
    });
  });

  test('a machine that does not exist', async () => {
    const { outcome } = await execute(start('.sync:2'));
    expect(outcome).toMatchObject({
      error: 'StepFunctions.StateMachineDoesNotExistException',
      cause: expect.stringMatching(
        /^State Machine Does Not Exist: '.*' \(Service: AWSStepFunctions; Status Code: 400; Error Code: StateMachineDoesNotExist; Request ID: [0-9a-f-]+; Proxy: null\)$/,
      ),
    });
  });

  test('a time limit stops the child', async () => {
    const { outcome, events } = await execute(start('.sync:2', { TimeoutSeconds: 3 }), {
      machines: { [CHILD]: machine({ W: { Type: 'Wait', Seconds: 100, End: true } }) },
    });
    expect(outcome).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    expect(
      detailsOf(events.at(-2) ?? events[0] ?? { id: 0, previousEventId: 0, timestamp: 0, type: '' }),
    ).toMatchObject({ error: 'States.Timeout' });
  });
});

test.each([
  'arn:aws:states:::sqs:sendMessage',
  'arn:aws:states:::lambda:invoke.waitForTaskToken',
  'arn:aws:states:us-east-1:000000000000:activity:a',
])('%s is refused in words', async (Resource) => {
  const { outcome } = await execute(machine({ T: { Type: 'Task', Resource, End: true } }));
  expect(outcome).toMatchObject({
    error: 'States.Runtime',
    cause: expect.stringContaining(`The resource '${Resource}'`),
  });
});
