/** Saving, where a crash cut an earlier save short, or another one is under way. */
import { DescribeStateMachineCommand, ListStateMachineVersionsCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentHash } from '../../lib/blueprint/canonical.ts';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { BlueprintDocument } from '../../lib/blueprint/types.ts';
import { LOCAL_PRINCIPAL, STACK_PRINCIPAL } from '../../lib/engine/principals.ts';
import { saveBlueprint } from '../../lib/engine/save.ts';
import { commitHead, getHead, getRevision, publishRevision, putRevision } from '../../lib/store/workflows.ts';
import { headRecord, revisionRecord } from '../store/records.ts';
import { startEnvironment, type TestEnvironment } from './engine-environment.ts';

let test: TestEnvironment;

beforeAll(async () => {
  test = await startEnvironment();
});
afterAll(() => test.stop());

const blueprint = (id: string, message = 'hi'): JsonObject => ({
  id,
  steps: [{ id: 'say', type: 'call', tool: 'server/echo', params: { message }, parse: 'text' }],
});
/** As the deployment saves: no downstream server is asked. */
const save = (id: string, message?: string) =>
  saveBlueprint(test.env, STACK_PRINCIPAL, blueprint(id, message), { readOnly: true });
const hashOf = (id: string, message?: string): string =>
  documentHash({
    abi: 1,
    blueprint: blueprint(id, message),
    tools: { say: { server: 'server', tool: 'echo' } },
    workflows: {},
  } as unknown as BlueprintDocument);
const pending = (workflow: string, hash: string) =>
  putRevision(
    test.env.store,
    revisionRecord({ workflow, hash, createdAt: new Date(test.env.now()).toISOString() }),
  );

describe('a revision that a crash left pending', () => {
  it('is finished by the next save of the same content', async () => {
    await pending('same', hashOf('same'));
    expect(await save('same')).toMatchObject({ revision: 1, hash: hashOf('same') });
    expect(await getRevision(test.env.store, 'same', 1)).toMatchObject({ state: 'PUBLISHED' });
  });

  it('keeps other content waiting for a minute, then it is given up', async () => {
    await pending('other', hashOf('other', 'lost'));
    await expect(save('other')).rejects.toMatchObject({ code: 'Conflict' });
    test.pass(61_000);
    expect(await save('other')).toMatchObject({ revision: 2 });
    expect(await getRevision(test.env.store, 'other', 1)).toMatchObject({ state: 'EXPIRED' });
    expect(await getHead(test.env.store, 'other')).toMatchObject({ revision: 2, hash: hashOf('other') });
  });

  it('published and not yet current is left behind by the next save', async () => {
    await save('behind', 'first');
    await putRevision(
      test.env.store,
      revisionRecord({ workflow: 'behind', revision: 2, hash: hashOf('behind') }),
    );
    await publishRevision(test.env.store, 'behind', 2, {
      hash: hashOf('behind'),
      stateMachineArn: 'arn',
      versionArn: 'arn:2',
    });
    expect(await save('behind')).toMatchObject({ revision: 3 });
  });
});

describe('the machine', () => {
  it('carries the hash, and is taken over where a crash left one', async () => {
    await test.machine('mwe-taken', { Pass: { Type: 'Succeed' } });
    const saved = await save('taken');
    const head = await getHead(test.env.store, 'taken');
    const described = await test.env.sfn.send(
      new DescribeStateMachineCommand({ stateMachineArn: head?.versionArn ?? '' }),
    );
    expect(described.definition).toContain(saved.hash);
    expect(described.description).toBe(saved.hash);
  });

  it('logs and traces as the deployment says, also after a change of it', async () => {
    const logGroupArn = 'arn:aws:logs:us-east-1:000000000000:log-group:/aws/vendedlogs/states/mwe:*';
    const destinations = [{ cloudWatchLogsLogGroup: { logGroupArn } }];
    const env = (includeData: boolean) => ({
      ...test.env,
      config: { ...test.env.config, machines: { logGroupArn, includeData, tracing: true } },
    });
    for (const includeData of [false, true]) {
      const each = blueprint('observed', String(includeData));
      await saveBlueprint(env(includeData), STACK_PRINCIPAL, each, { readOnly: true });
      const { versionArn = '' } = (await getHead(test.env.store, 'observed')) ?? {};
      const described = await test.env.sfn.send(
        new DescribeStateMachineCommand({ stateMachineArn: versionArn }),
      );
      expect(described.loggingConfiguration).toEqual({
        level: 'ALL',
        includeExecutionData: includeData,
        destinations,
      });
      expect(described.tracingConfiguration).toEqual({ enabled: true });
    }
  });

  it('has one version a revision, also where the same is saved twice at once', async () => {
    const answers = await Promise.allSettled([save('twice'), save('twice')]);
    const saved = answers.filter((each) => each.status === 'fulfilled');
    expect(saved.length).toBeGreaterThanOrEqual(1);
    for (const each of saved) expect(each.value.revision).toBe(1);
    const { stateMachineArn = '' } = (await getHead(test.env.store, 'twice')) ?? {};
    const { stateMachineVersions } = await test.env.sfn.send(
      new ListStateMachineVersionsCommand({ stateMachineArn }),
    );
    expect(stateMachineVersions).toHaveLength(1);
  });
});

describe('what the deployment owns', () => {
  it('takes an id that an agent had', async () => {
    await commitHead(
      test.env.store,
      headRecord({ workflow: 'agents', hash: hashOf('agents'), owner: LOCAL_PRINCIPAL }),
      undefined,
    );
    await save('agents');
    expect(await getHead(test.env.store, 'agents')).toMatchObject({
      readOnly: true,
      owner: { id: 'stack' },
      hash: hashOf('agents'),
    });
  });
});
