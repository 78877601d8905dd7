/** A function URL on loopback: the event that a handler gets, the answer that a client gets, and who comes in. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import type { RunningServer } from '../../lib/local/http-server.ts';
import { type FunctionUrl, serveFunctionUrl } from '../../rehearsal/function-url.ts';
import { type Caller, evaluate } from '../../rehearsal/iam/evaluate.ts';
import { parsePolicy, type Statement } from '../../rehearsal/iam/policy.ts';
import { createLambdaProcess, type LambdaProcess } from '../../rehearsal/lambda-process.ts';

const ARN = 'arn:aws:lambda:us-east-1:000000000000:function:streams';
const AGENT = 'arn:aws:iam::000000000000:role/agent';

let folder: string;
let log: string[];
let made: LambdaProcess;
let server: RunningServer | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'function-url-'));
  log = [];
  made = createLambdaProcess(
    {
      name: 'streams',
      arn: ARN,
      folder: join(projectRoot(), 'test', 'rehearsal', 'bundles'),
      handler: 'streams.handler',
      environment: {},
      timeoutSeconds: 30,
      memoryMb: 512,
      accessKey: 'role-x',
      region: 'us-east-1',
    },
    {
      runtime: join(projectRoot(), 'rehearsal', 'lambda-runtime.mjs'),
      folder,
      maxContainers: 1,
      log: (line) => log.push(line),
    },
  );
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await made.close();
  await rm(folder, { recursive: true });
});

const permission = (action: string, principal: Json, condition: Json): Json => ({
  Effect: 'Allow',
  Principal: principal,
  Action: action,
  Resource: ARN,
  Condition: condition,
});
const policyFor = (principal: Json, authType: string): Statement[] =>
  parsePolicy(
    'resource',
    {
      Version: '2012-10-17',
      Statement: [
        permission('lambda:InvokeFunctionUrl', principal, {
          StringEquals: { 'lambda:FunctionUrlAuthType': authType },
        }),
        permission('lambda:InvokeFunction', principal, { Bool: { 'lambda:InvokedViaFunctionUrl': 'true' } }),
      ],
    },
    'function',
  );

async function serve(authType: FunctionUrl['authType'], resource: Statement[]): Promise<string> {
  server = await serveFunctionUrl(
    {
      functionArn: ARN,
      domainName: 'abc.lambda-url.us-east-1.on.aws',
      authType,
      process: made,
      callerOf: (accessKey) => {
        const caller: Caller = { kind: 'aws', arn: `arn:aws:iam::000000000000:role/${accessKey}` };
        return { arn: caller.arn, userArn: caller.arn, caller };
      },
      allowed: (caller, needed) =>
        evaluate({ caller, ...needed }, { identity: [], resource }).outcome === 'allowed',
    },
    (error) => log.push(String(error)),
  );
  return server.url;
}
const signed = (key: string): Record<string, string> => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=0`,
});

describe('a public URL', () => {
  it('makes the event of payload 2.0 and streams the answer with its head', async () => {
    const url = await serve('NONE', policyFor('*', 'NONE'));
    const response = await fetch(`${url}/mcp?a=1&b=2`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'X-Mixed': 'Case' },
      body: '{"text":"ü"}',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-of-ours')).toBe('yes');
    const [, event] = (await response.json()) as [number, Record<string, unknown>];
    expect(event).toMatchObject({
      version: '2.0',
      rawPath: '/mcp',
      rawQueryString: 'a=1&b=2',
      headers: { host: 'abc.lambda-url.us-east-1.on.aws', 'x-mixed': 'Case' },
      requestContext: {
        accountId: 'anonymous',
        domainName: 'abc.lambda-url.us-east-1.on.aws',
        http: { method: 'POST', path: '/mcp' },
      },
      body: '{"text":"ü"}',
      isBase64Encoded: false,
    });
    expect(event).not.toHaveProperty('requestContext.authorizer');
    // Its next event waits for what the handler does after its answer.
    await (await fetch(`${url}/teapot`)).text();
    expect(log).toContain('streams: after the answer');
    expect(made.pids()).toHaveLength(1);
  });

  it.each([
    ['/teapot', 418],
    ['/empty', 200],
    ['/throws', 502],
  ])('%s answers %d', async (path, status) => {
    const url = await serve('NONE', policyFor('*', 'NONE'));
    expect((await fetch(`${url}${path}`)).status).toBe(status);
  });

  it('tells the handler that its reader has gone', async () => {
    const url = await serve('NONE', policyFor('*', 'NONE'));
    const gone = new AbortController();
    const response = await fetch(`${url}/hang`, { signal: gone.signal });
    await response.body?.getReader().read();
    gone.abort();
    await vi.waitFor(() => expect(log).toContain('streams: the reader has gone'));
  });

  it.each([
    ['without a policy', []],
    ['with the first permission alone', policyFor('*', 'NONE').slice(0, 1)],
    ['with the second alone', policyFor('*', 'NONE').slice(1)],
    ['with permissions for the other type', policyFor('*', 'AWS_IAM')],
  ])('lets nobody in %s', async (_name, policy) => {
    const url = await serve('NONE', policy);
    const response = await fetch(`${url}/mcp`);
    expect(response.status).toBe(403);
    expect(made.pids()).toEqual([]);
  });
});

describe('a URL with AWS_IAM', () => {
  it('lets in who may, and says who it is', async () => {
    const url = await serve('AWS_IAM', policyFor({ AWS: AGENT }, 'AWS_IAM'));
    const response = await fetch(`${url}/mcp`, { headers: signed('agent') });
    const [, event] = (await response.json()) as [number, Record<string, unknown>];
    expect(event).toMatchObject({
      requestContext: { authorizer: { iam: { userArn: AGENT, accessKey: 'agent' } } },
    });
  });

  it.each([
    ['without a signature', {}],
    ['signed by somebody else', signed('stranger')],
  ])('refuses a request %s', async (_name, headers) => {
    const url = await serve('AWS_IAM', policyFor({ AWS: AGENT }, 'AWS_IAM'));
    expect((await fetch(`${url}/mcp`, { headers })).status).toBe(403);
  });
});
