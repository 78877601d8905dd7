/** The 1,001st save of a workflow: Step Functions' stand-in keeps 1,000 versions of a machine, as the service does. */
import { ListStateMachineVersionsCommand, UpdateStateMachineCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { saveBlueprint } from '../../lib/engine/save.ts';
import { scheduleWorkflow } from '../../lib/engine/schedules.ts';
import { startRun } from '../../lib/engine/start.ts';
import { getWorkflow } from '../../lib/engine/workflows.ts';
import type { Principal } from '../../lib/store/records.ts';
import { createRun } from '../../lib/store/runs.ts';
import { getHead, getRevision } from '../../lib/store/workflows.ts';
import { runRecord } from '../store/records.ts';
import { type ScheduledEngine, startScheduledEngine } from './scheduled-engine.ts';

const ALICE: Principal = { kind: 'token', id: 'token:alice', scopes: [] };

let engine: ScheduledEngine;
beforeAll(async () => {
  engine = await startScheduledEngine();
});
afterAll(() => engine.stop());

const save = (value: string) =>
  saveBlueprint(engine.env, ALICE, {
    id: 'many',
    steps: [{ id: 'say', type: 'call', tool: 'counting/work', params: { value }, parse: 'json' }],
  });

async function versions(stateMachineArn: string): Promise<number[]> {
  const { stateMachineVersions = [] } = await engine.env.sfn.send(
    new ListStateMachineVersionsCommand({ stateMachineArn, maxResults: 1000 }),
  );
  return stateMachineVersions.map((each) => Number(each.stateMachineVersionArn?.split(':').at(-1))).reverse();
}

it('makes room by the oldest versions that nothing names, and says so of their revisions', async () => {
  const { env } = engine;
  await save('scheduled');
  await scheduleWorkflow(env, ALICE, { id: 'many', schedule: 'rate(1 day)' });
  await save('running');
  const second = await getRevision(env.store, 'many', 2);
  await createRun(env.store, {
    ...runRecord({ workflow: 'many', revision: 2, hash: String(second?.hash) }),
    stateMachineArn: String(second?.stateMachineArn),
    versionArn: String(second?.versionArn),
  });
  await save('pinned');
  await saveBlueprint(env, ALICE, { id: 'parent', steps: [{ id: 'sub', type: 'call', workflow: 'many' }] });
  await save('unused');
  const head = await getHead(env.store, 'many');
  const stateMachineArn = String(head?.stateMachineArn);
  // What other saves left behind when they broke off.
  for (let n = 5; n <= 1000; n += 1) {
    const definition = JSON.stringify({
      StartAt: 'A',
      States: { A: { Type: 'Succeed', Comment: String(n) } },
    });
    await env.sfn.send(new UpdateStateMachineCommand({ stateMachineArn, definition, publish: true }));
  }
  expect(await versions(stateMachineArn)).toHaveLength(1000);

  const saved = await save('one more');
  expect(saved).toMatchObject({ revision: 5 });
  // 1, 2 and 3 are named, 4 was current until now; 50 after them have gone, and the new one is there.
  const left = await versions(stateMachineArn);
  expect(left.slice(0, 5)).toEqual([1, 2, 3, 4, 55]);
  expect(left.at(-1)).toBe(1001);

  // With nothing else left to give up, revision 4 goes too.
  for (let n = 0; n < 49; n += 1) {
    const definition = JSON.stringify({ StartAt: 'A', States: { A: { Type: 'Succeed', Comment: `x${n}` } } });
    await env.sfn.send(new UpdateStateMachineCommand({ stateMachineArn, definition, publish: true }));
  }
  await save('the last');
  expect((await versions(stateMachineArn)).slice(0, 4)).toEqual([1, 2, 3, 104]);
  expect(await getRevision(env.store, 'many', 4)).toMatchObject({ state: 'RETIRED' });
  await expect(startRun(env, ALICE, { id: 'many', revision: 4 })).rejects.toMatchObject({
    code: 'NotFound',
    message: expect.stringMatching(
      /^revision 4 of workflow "many" cannot be run any more: .* the current one is 6/,
    ),
  });
  expect(await getWorkflow(env, ALICE, { id: 'many', revision: 4 })).toMatchObject({
    revision: 4,
    current: 6,
  });
  await expect(startRun(env, ALICE, { id: 'many', revision: 3 })).resolves.toMatchObject({ revision: 3 });
}, 120_000);
