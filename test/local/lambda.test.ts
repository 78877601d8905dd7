/** Lambda over its HTTP API with the real client, and in process as the local Step Functions calls it. */
import {
  InvokeCommand,
  type InvokeCommandOutput,
  LambdaClient,
  ListFunctionsCommand,
  RequestTooLargeException,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../lib/local/http-server.ts';
import { createLambdaHandler } from '../../lib/local/lambda/api.ts';
import { createLambda, type LambdaContext, type LambdaService } from '../../lib/local/lambda/functions.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';

const ARN = 'arn:aws:lambda:us-east-1:000000000000:function:echo';
const shared = { list: [1] };
const heard: unknown[] = [];
let tries = 0;
let hear: () => void = () => {};
let service: LambdaService;
let server: RunningServer;
let client: LambdaClient;
const givenUp: string[] = [];

function describeContext(context: LambdaContext) {
  const { getRemainingTimeInMillis, awsRequestId, ...rest } = context;
  return { ...rest, remaining: getRemainingTimeInMillis() > 800_000, requestId: awsRequestId.length };
}

beforeAll(async () => {
  service = createLambda({
    asyncRetryDelaysMs: [1, 1],
    onAsyncFailure: (name, payload) => {
      givenUp.push(`${name} ${payload}`);
      hear();
    },
    functions: {
      echo: async (event) => event,
      context: async (_event, context) => describeContext(context),
      shared: async () => shared,
      nothing: async () => undefined,
      hear: async (event) => {
        heard.push(event);
        hear();
      },
      'fails-once': async () => {
        tries += 1;
        if (tries === 1) throw new Error('once');
        hear();
      },
      'fails-always': async () => {
        throw new Error('always');
      },
      throws: async () => {
        const error = new Error('not today');
        error.name = 'ToolError';
        throw error;
      },
      'throws-text': async () => {
        throw 'text';
      },
      large: async () => 'x'.repeat(6 * 1024 * 1024 + 200),
      cyclic: async () => {
        const value: Record<string, unknown> = {};
        value.self = value;
        return value;
      },
      slow: { handler: () => new Promise(() => {}), timeoutSeconds: 0.05 },
      hangs: () => new Promise(() => {}),
    },
  });
  server = await startServer(createLambdaHandler(service), { guard: { signed: true } });
  client = new LambdaClient(
    clientConfig({ region: LOCAL_REGION, endpoint: server.url, credentials: LOCAL_CREDENTIALS }),
  );
});
afterAll(async () => {
  client.destroy();
  await server.close();
  await service.close(0);
});

const payloadOf = (output: InvokeCommandOutput): unknown =>
  output.Payload === undefined ? undefined : JSON.parse(Buffer.from(output.Payload).toString('utf8'));
const invoke = (name: string, event?: unknown) =>
  client.send(
    new InvokeCommand({
      FunctionName: name,
      ...(event === undefined ? {} : { Payload: JSON.stringify(event) }),
    }),
  );

describe('Invoke', () => {
  it.each(['echo', ARN, `${ARN}:$LATEST`, '000000000000:function:echo', 'echo:$LATEST'])(
    'finds a function by %s',
    async (name) => {
      const output = await invoke(name, { a: ['é', null, 1.5] });
      expect(output).toMatchObject({ StatusCode: 200, ExecutedVersion: '$LATEST' });
      expect(output.FunctionError).toBeUndefined();
      expect(payloadOf(output)).toEqual({ a: ['é', null, 1.5] });
    },
  );

  it.each([
    'nowhere',
    'echo:7',
    'arn:aws:lambda:eu-west-1:000000000000:function:echo',
    '111111111111:function:echo',
  ])('does not find %s', async (name) => {
    await expect(invoke(name, {})).rejects.toThrow(ResourceNotFoundException);
  });

  it('names what was not found', async () => {
    await expect(invoke('nowhere', {})).rejects.toThrow(
      'Function not found: arn:aws:lambda:us-east-1:000000000000:function:nowhere',
    );
  });

  it('gives the function its context', async () => {
    expect(payloadOf(await invoke('context'))).toEqual({
      functionName: 'context',
      functionVersion: '$LATEST',
      invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:context',
      memoryLimitInMB: '1024',
      logGroupName: '/aws/lambda/context',
      logStreamName: 'local/[$LATEST]',
      callbackWaitsForEmptyEventLoop: true,
      remaining: true,
      requestId: 36,
    });
  });

  it('answers null for nothing, and an empty object for no payload', async () => {
    expect(payloadOf(await invoke('nothing'))).toBeNull();
    expect(payloadOf(await invoke('echo'))).toEqual({});
  });

  const failures: [string, object][] = [
    ['throws', { errorType: 'ToolError', errorMessage: 'not today', trace: expect.any(Array) }],
    ['throws-text', { errorType: 'string', errorMessage: 'text', trace: [] }],
    [
      'cyclic',
      { errorType: 'TypeError', errorMessage: expect.stringContaining('circular'), trace: expect.any(Array) },
    ],
    [
      'slow',
      {
        errorType: 'Sandbox.Timedout',
        errorMessage: expect.stringMatching(/^RequestId: \S+ Error: Task timed out after 0\.05 seconds$/),
      },
    ],
    [
      'large',
      {
        errorType: 'Function.ResponseSizeTooLarge',
        errorMessage: 'Response payload size exceeded maximum allowed payload size (6291556 bytes).',
      },
    ],
  ];
  it.each(failures)('%s: the failure is the payload', async (name, payload) => {
    const output = await invoke(name, {});
    expect(output).toMatchObject({ StatusCode: 200, FunctionError: 'Unhandled' });
    expect(payloadOf(output)).toEqual(payload);
  });

  it('takes 6 MB and no more', async () => {
    const limit = 6 * 1024 * 1024;
    const most = 'x'.repeat(limit - 2);
    expect(payloadOf(await invoke('echo', most))).toBe(most);
    await expect(invoke('echo', 'x'.repeat(limit))).rejects.toThrow(RequestTooLargeException);
  });

  it('refuses what is no JSON', async () => {
    const command = new InvokeCommand({ FunctionName: 'echo', Payload: Buffer.from('{no') });
    await expect(client.send(command)).rejects.toMatchObject({ name: 'InvalidRequestContentException' });
  });

  it('only checks on a dry run', async () => {
    const before = heard.length;
    const output = await client.send(new InvokeCommand({ FunctionName: 'hear', InvocationType: 'DryRun' }));
    expect(output.StatusCode).toBe(204);
    expect(heard).toHaveLength(before);
  });

  it('accepts an event and runs it afterwards', async () => {
    const done = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const command = new InvokeCommand({ FunctionName: 'hear', InvocationType: 'Event', Payload: '{"n":1}' });
    const output = await client.send(command);
    expect(output.StatusCode).toBe(202);
    expect(output.Payload ?? []).toHaveLength(0);
    await done;
    expect(heard).toEqual([{ n: 1 }]);
  });

  it('tries an event again, three times in all', async () => {
    const send = (name: string) => {
      const done = new Promise<void>((resolve) => {
        hear = resolve;
      });
      return client.send(new InvokeCommand({ FunctionName: name, InvocationType: 'Event' })).then(() => done);
    };
    await send('fails-once');
    expect(tries).toBe(2);
    await send('fails-always');
    expect(givenUp).toEqual([expect.stringMatching(/^fails-always .*"errorMessage":"always"/)]);
  });

  it('lists the functions', async () => {
    const { Functions = [] } = await client.send(new ListFunctionsCommand({}));
    expect(Functions.map((each) => each.FunctionName)).toContain('echo');
  });
});

describe('invoke in process', () => {
  const request = {
    payload: '{}',
    invocationType: 'RequestResponse' as const,
    signal: new AbortController().signal,
  };

  it('shares no object', async () => {
    const { payload } = await service.invoke({ ...request, functionName: 'shared' });
    shared.list.push(2);
    expect(payload).toBe('{"list":[1]}');
  });

  it('rejects with the reason of the signal', async () => {
    const controller = new AbortController();
    const answer = service.invoke({ ...request, functionName: 'hangs', signal: controller.signal });
    controller.abort(new Error('stopped'));
    await expect(answer).rejects.toThrow('stopped');
  });

  it('rejects as the service where there is no function', async () => {
    await expect(service.invoke({ ...request, functionName: 'nowhere' })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      statusCode: 404,
    });
  });
});
