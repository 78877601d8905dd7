/** The endpoint as Lambda has it: its bundle in a process of its own, events of a function URL in, a stream out. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Container, startContainer } from './container.ts';
import { openStage, type Stage } from './stage.ts';
import { mcpEvent } from './url-event.ts';

let stage: Stage;
let endpoint: Container;

beforeAll(async () => {
  stage = await openStage();
  endpoint = await startContainer(await stage.asset('mcp-endpoint'), stage.environment());
});
afterAll(async () => {
  await endpoint.stop();
  await stage.stop();
});

const bearer = () => ({ authorization: `Bearer ${stage.token}` });

it('answers in the 2026-07-28 revision', async () => {
  const answer = await endpoint.stream(mcpEvent('tools/list', {}, bearer()));
  expect(answer.statusCode).toBe(200);
  const { tools } = JSON.parse(answer.body).result;
  expect(tools.map(({ name }: { name: string }) => name)).toContain('run_workflow');
});
it('calls', async () => {
  const answer = await endpoint.stream(
    mcpEvent('tools/call', { name: 'list_workflows', arguments: {} }, bearer()),
  );
  expect(JSON.parse(answer.body).result.structuredContent).toEqual({ workflows: [] });
});
