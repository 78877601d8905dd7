/** The endpoint as Lambda has it: its bundle in a process of its own, events of a function URL in, a stream out. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Container, InitError, startContainer } from './container.ts';
import { openStage, type Stage } from './stage.ts';
import { HOST, mcpEvent, urlEvent } from './url-event.ts';

let stage: Stage;
let endpoint: Container;

beforeAll(async () => {
  stage = await openStage();
  endpoint = await startContainer(
    await stage.asset('mcp-endpoint'),
    stage.environment({ MWE_ALLOWED_ORIGINS: 'https://console.example' }),
  );
});
afterAll(async () => {
  await endpoint.stop();
  await stage.stop();
});

const bearer = () => ({ authorization: `Bearer ${stage.token}` });

describe('requests', () => {
  it('are answered in the 2026-07-28 revision', async () => {
    const answer = await endpoint.stream(mcpEvent('tools/list', {}, bearer()));
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    const { tools } = JSON.parse(answer.body).result;
    expect(tools.map(({ name }: { name: string }) => name)).toContain('run_workflow');
    // No prop turned it on.
    expect(tools.map(({ name }: { name: string }) => name)).not.toContain('call_tool');
  });

  it('are answered in a 2025 revision', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} });
    const headers = { ...bearer(), 'mcp-protocol-version': '2025-06-18' };
    const answer = await endpoint.stream(urlEvent({ headers, body: new TextEncoder().encode(body) }));
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain('"id":7');
  });

  it('reach the table', async () => {
    const call = { name: 'list_workflows', arguments: {} };
    const answer = await endpoint.stream(mcpEvent('tools/call', call, bearer()));
    expect(JSON.parse(answer.body).result.structuredContent).toEqual({ workflows: [] });
  });

  it.each<[string, Parameters<typeof urlEvent>[0], number]>([
    ['another Host', { headers: { host: 'evil.example' } }, 403],
    ['an Origin that is not listed', { headers: { origin: 'https://evil.example' } }, 403],
    ['an Origin that is listed, but no token', { headers: { origin: 'https://console.example' } }, 401],
    ['no token', {}, 401],
    ['a token that is none', { headers: { authorization: 'Bearer nobody' } }, 401],
    ['another path', { path: '/other' }, 404],
    [
      'OAuth metadata, which bearer has none of',
      { method: 'GET', path: '/.well-known/oauth-protected-resource' },
      404,
    ],
    ['GET, a session operation', { method: 'GET' }, 405],
    ['OPTIONS, for there is no CORS', { method: 'OPTIONS' }, 405],
  ])('with %s: %s', async (_, request, status) => {
    const answer = await endpoint.stream(urlEvent({ body: '{', ...request }));
    expect(answer.statusCode).toBe(status);
    expect(Object.keys(answer.headers).filter((name) => /^access-control-|^set-cookie$/.test(name))).toEqual(
      [],
    );
  });

  it.each<[string, string | Uint8Array, number]>([
    ['a body that is no JSON', '{', 400],
    ['a body of 5 MiB', new Uint8Array(5 * 1024 * 1024).fill(32), 413],
  ])('with a token and %s', async (_, body, status) => {
    const answer = await endpoint.stream(urlEvent({ headers: bearer(), body }));
    expect(answer.statusCode).toBe(status);
  });

  it('for a stream of changes end at once, for nothing of the list ever changes', async () => {
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const answer = await endpoint.stream(mcpEvent('subscriptions/listen', { notifications }, bearer()));
    expect(answer.headers['content-type']).toBe('text/event-stream');
    const events = [...answer.body.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(events.map((event) => event.method ?? event.result.resultType)).toEqual([
      'notifications/subscriptions/acknowledged',
      'complete',
    ]);
  });

  it('are counted', async () => {
    const before = endpoint.stdout().length;
    await endpoint.stream(
      mcpEvent('tools/call', { name: 'get_run', arguments: { runId: 'none' } }, bearer()),
    );
    // What the process writes goes another way than its answers.
    while (!endpoint.stdout().slice(before).includes('RequestLatency')) await new Promise(setImmediate);
    const lines = endpoint.stdout().slice(before).trim().split('\n');
    const told = lines.map((line) => JSON.parse(line)).filter(({ Requests }) => Requests !== undefined);
    expect(told).toMatchObject([
      { outcome: 'refused', Requests: 1 },
      { tool: 'get_run', outcome: 'refused', Requests: 1 },
    ]);
  });
});

describe('a start', () => {
  it.each<[string, Record<string, string>, string]>([
    [
      'without a table',
      { MWE_TABLE: '' },
      'EnvironmentError: MWE_TABLE: the environment variable is missing or empty; the stack sets it',
    ],
    [
      'with an ARN that is none',
      { MWE_CALL_TOOL_ARN: 'x' },
      'EnvironmentError: MWE_CALL_TOOL_ARN: an ARN with an account is needed, "x" is set',
    ],
    ['with a mode that is none', { MWE_AUTH: '{}' }, 'EnvironmentError: MWE_AUTH: auth/mode:'],
    [
      'with a limit that is none',
      { MWE_MAX_OPEN_RUNS: '-1' },
      'EnvironmentError: MWE_MAX_OPEN_RUNS: a whole number from 1 is needed, "-1" is set',
    ],
  ])('%s ends with one line that says so', async (_, more, message) => {
    const starting = startContainer(await stage.asset('mcp-endpoint'), stage.environment(more));
    await expect(starting).rejects.toThrow(InitError);
    await expect(starting).rejects.toThrow(message);
  });

  it('asks nobody anything: no client is made, nothing is read', async () => {
    const closed = {
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
      AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:1',
    };
    const container = await startContainer(await stage.asset('mcp-endpoint'), stage.environment(closed));
    const answer = await container.stream(urlEvent({ headers: { host: HOST }, method: 'GET', path: '/x' }));
    expect(answer.statusCode).toBe(404);
    await container.stop();
    expect(container.stdout() + container.stderr()).toBe('');
  });
});
