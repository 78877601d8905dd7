/** CloudFormation's events for the blueprints of the stack, as run-events answers them: in order, twice, late, and after a crash. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetScheduleCommand } from '@aws-sdk/client-scheduler';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRunEvents } from '../../functions/run-events/handler.ts';
import { documentHash } from '../../lib/blueprint/canonical.ts';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { LOCAL_PRINCIPAL, requireChange, STACK_PRINCIPAL } from '../../lib/engine/principals.ts';
import { scheduleWorkflow } from '../../lib/engine/schedules.ts';
import { compileStackFolder, type StackDocument } from '../../lib/engine/stack-documents.ts';
import { putDocument } from '../../lib/store/documents.ts';
import type { WorkflowHead } from '../../lib/store/records.ts';
import { awsScheduleName, getScheduleRecord, listScheduleRecords } from '../../lib/store/schedules.ts';
import {
  commitHead,
  getBoundRevision,
  getHead,
  getRevision,
  putRevision,
} from '../../lib/store/workflows.ts';
import { headRecord, revisionRecord } from '../store/records.ts';
import { startEnvironment, type TestEnvironment } from './engine-environment.ts';

let test: TestEnvironment;
let url: string;
/** What CloudFormation was told, and how it answers: statuses, the last one for good. */
const told: { body: JsonObject; type: string | undefined; method: string | undefined }[] = [];
let statuses: number[] = [200];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    told.push({ body, type: request.headers['content-type'], method: request.method });
    const status = statuses.length > 1 ? statuses.shift() : statuses[0];
    response.writeHead(status ?? 200).end();
  });
});

/** Every entry of the log. */
const log: JsonObject[] = [];
/** Documents of the asset by hash. */
const shipped = new Map<string, StackDocument>();
let readFails = false;
/** Requests that are refused before the role has its rights. */
let denials = 0;

beforeAll(async () => {
  test = await startEnvironment();
  test.env.log = (entry) => log.push(entry);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer?signature=very-secret`;
});
afterAll(async () => {
  server.close();
  await test.stop();
});
beforeEach(() => {
  told.length = 0;
  log.length = 0;
  statuses = [200];
  readFails = false;
});

const echo = (id: string, message: string, more: object = {}) => ({
  id,
  steps: [{ id: 'say', type: 'call', tool: 'server/echo', params: { message }, parse: 'text' }],
  ...more,
});

/** A deployment's property, each version named by its content. */
function deployment(...blueprints: object[]): JsonObject[] {
  const files = blueprints.map((each) => ({
    file: `${(each as { id: string }).id}.json`,
    text: JSON.stringify(each),
  }));
  const compiled = compileStackFolder(files, { callToolArn: 'arn', functionTimeoutSeconds: 900 });
  if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults));
  return compiled.documents.map((document) => {
    shipped.set(document.hash, document);
    return entryOf(document);
  });
}

const entryOf = ({ id, hash }: StackDocument, version = hash.slice(0, 6)): JsonObject => ({
  id,
  hash,
  stateMachineArn: `arn:aws:states:us-east-1:000000000000:stateMachine:mwe-${id}_stack`,
  versionArn: `arn:aws:states:us-east-1:000000000000:stateMachine:mwe-${id}_stack:${version}`,
});

let requests = 0;
const event = (blueprints: unknown, more: object = {}) => ({
  RequestType: 'Update',
  RequestId: `request-${++requests}`,
  StackId: 'arn:aws:cloudformation:us-east-1:000000000000:stack/mwe/1',
  LogicalResourceId: 'BlueprintsCurrent',
  ResourceType: 'Custom::StackBlueprints',
  ResponseURL: url,
  PhysicalResourceId: 'stack-blueprints',
  ResourceProperties: { ServiceToken: 'arn', ServiceTimeout: '360', blueprints },
  ...more,
});

const handler = () =>
  createRunEvents(test.env, {
    answer: { delaysMs: [1, 1], timeoutMs: 2000, rightsDelaysMs: [1, 1] },
    readStackDocument: async (hash) => {
      if (readFails) throw new Error('the asset cannot be read');
      if (denials-- > 0) throw Object.assign(new Error('not authorized'), { name: 'AccessDenied' });
      const found = shipped.get(hash);
      if (found === undefined) throw new Error(`no document ${hash}`);
      return found.document;
    },
  });
const send = (sent: object) => handler()(sent);
const heads = async (...ids: string[]) =>
  Promise.all(
    ids.map(async (id) => {
      const head = await getHead(test.env.store, id);
      return (
        head && { revision: head.revision, version: head.versionArn, deleted: head.deletedAt !== undefined }
      );
    }),
  );
const lastAnswer = () => told.at(-1)?.body;

describe('a deployment', () => {
  it('makes its blueprints current, sub-workflows first, and answers', async () => {
    const blueprints = deployment(
      { id: 'parent', description: 'Calls', steps: [{ id: 'c', type: 'call', workflow: 'child' }] },
      echo('child', 'hi'),
    );
    expect(blueprints.map(({ id }) => id)).toEqual(['child', 'parent']);
    const sent = event(blueprints, { RequestType: 'Create', PhysicalResourceId: undefined });
    expect(await send(sent)).toEqual({ outcome: '2 published, 0 unchanged, 0 removed' });
    expect(told).toEqual([
      {
        method: 'PUT',
        type: undefined,
        body: {
          Status: 'SUCCESS',
          PhysicalResourceId: 'stack-blueprints',
          StackId: sent.StackId,
          RequestId: sent.RequestId,
          LogicalResourceId: 'BlueprintsCurrent',
        },
      },
    ]);
    const [child, parent] = blueprints;
    expect(await getHead(test.env.store, 'parent')).toEqual({
      workflow: 'parent',
      owner: STACK_PRINCIPAL,
      description: 'Calls',
      revision: 1,
      hash: parent?.hash,
      stateMachineArn: parent?.stateMachineArn,
      versionArn: parent?.versionArn,
      readOnly: true,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await getRevision(test.env.store, 'child', 1)).toMatchObject({
      state: 'PUBLISHED',
      hash: child?.hash,
      principal: STACK_PRINCIPAL,
      versionArn: child?.versionArn,
    });
    // What the parent is pinned to is found by its document alone.
    const pinned = shipped.get(String(parent?.hash))?.document.workflows.c;
    expect(pinned).toEqual({ workflow: 'child', hash: child?.hash });
    expect(pinned && (await getBoundRevision(test.env.store, pinned))?.revision).toBe(1);
    expect(log.filter((entry) => entry.event === 'audit')).toEqual(
      ['child', 'parent'].map((workflow) => ({
        level: 'info',
        event: 'audit',
        action: 'stack.publish',
        principal: 'stack',
        kind: 'stack',
        workflow,
        revision: 1,
        outcome: 'ok',
      })),
    );
  });

  it('that is the same changes nothing; delivered twice it does not even look', async () => {
    const blueprints = deployment(echo('twice', 'a'));
    const sent = event(blueprints);
    await send(sent);
    expect(await send(sent)).toEqual({ outcome: 'applied before' });
    expect(lastAnswer()).toMatchObject({ Status: 'SUCCESS', RequestId: sent.RequestId });
    expect(await send(event(blueprints))).toEqual({ outcome: '0 published, 1 unchanged, 0 removed' });
    expect(await heads('twice')).toMatchObject([{ revision: 1 }]);
  });

  it('of another version of the same document is a new revision', async () => {
    const [document] = deployment(echo('rebuilt', 'a'));
    await send(event([document]));
    const again = { ...document, versionArn: `${String(document?.versionArn)}-2` };
    expect(await send(event([again]))).toEqual({ outcome: '1 published, 0 unchanged, 0 removed' });
    expect(await heads('rebuilt')).toEqual([{ revision: 2, version: again.versionArn, deleted: false }]);
  });

  it('rolled back makes the older content current again, as a new revision', async () => {
    const old = deployment(echo('rolled', 'old'));
    const next = deployment(echo('rolled', 'new'));
    await send(event(old));
    await send(event(next));
    await send(event(old));
    expect(await heads('rolled')).toEqual([{ revision: 3, version: old[0]?.versionArn, deleted: false }]);
    expect(await getRevision(test.env.store, 'rolled', 2)).toMatchObject({ hash: next[0]?.hash });
  });

  it('that comes late changes nothing, and is told so', async () => {
    const old = event(deployment(echo('late', 'old')));
    const next = event(deployment(echo('late', 'new')));
    await send(old);
    await send(next);
    expect(await send(old)).toEqual({
      outcome: 'failed: EngineError: a newer deployment has come since; this one changes nothing more',
    });
    expect(lastAnswer()).toMatchObject({ Status: 'FAILED', RequestId: old.RequestId });
    expect(await heads('late')).toMatchObject([{ revision: 2 }]);
    expect(await send(next)).toEqual({ outcome: 'applied before' });
  });

  it('that crashed half-way goes on where it stopped, also past a revision that was left pending', async () => {
    const [first, second] = deployment(echo('crash-a', 'a'), echo('crash-b', 'b'));
    const sent = event([first, second]);
    await putRevision(
      test.env.store,
      revisionRecord({ workflow: 'crash-a', hash: String(first?.hash), principal: STACK_PRINCIPAL }),
    );
    readFails = true;
    expect(await send(sent)).toEqual({ outcome: 'failed: Error: the asset cannot be read' });
    readFails = false;
    expect(await send(sent)).toEqual({ outcome: expect.stringContaining('2 published, 0 unchanged') });
    expect(await heads('crash-a', 'crash-b')).toMatchObject([{ revision: 1 }, { revision: 1 }]);
  });
});

describe('what is not shipped any more', () => {
  it('gets a tombstone, with its schedules; what the stack never owned does not', async () => {
    const schedules = [{ name: 'n', schedule: 'cron(0 2 1 1 ? 2199)' }];
    await commitHead(
      test.env.store,
      headRecord({ workflow: 'agents-own', owner: LOCAL_PRINCIPAL }),
      undefined,
    );
    await send(event(deployment(echo('gone', 'a', { schedules }), echo('stays', 'a'))));
    expect((await listScheduleRecords(test.env.store, 'gone')).length).toBe(1);
    expect(await send(event(deployment(echo('stays', 'a'))))).toEqual({
      outcome: '0 published, 1 unchanged, 1 removed',
    });
    expect(await heads('gone', 'stays', 'agents-own')).toMatchObject([
      { deleted: true },
      { deleted: false },
      { deleted: false },
    ]);
    expect(await listScheduleRecords(test.env.store, 'gone')).toEqual([]);
    expect(log.filter((entry) => entry.action === 'stack.remove')).toContainEqual(
      expect.objectContaining({ workflow: 'gone', revision: 1, outcome: 'ok' }),
    );
    const gone = (await getHead(test.env.store, 'gone')) as WorkflowHead;
    expect(() => requireChange(LOCAL_PRINCIPAL, gone)).toThrow('ship blueprints/gone.json again');
    // And back again, its numbering going on.
    await send(event(deployment(echo('gone', 'a'))));
    expect(await heads('gone')).toMatchObject([{ revision: 2, deleted: false }]);
  });

  it('is removed by the next request where the first was given up half-way', async () => {
    const both = deployment(echo('half-a', 'a'), echo('half-b', 'a'));
    readFails = true;
    await send(event(both));
    readFails = false;
    const only = deployment(echo('half-a', 'a'));
    await send(event(only));
    expect(await heads('half-a', 'half-b')).toMatchObject([{ deleted: false }, undefined]);
    await send(event(both));
    await send(event([]));
    expect(await heads('half-a', 'half-b')).toMatchObject([{ deleted: true }, { deleted: true }]);
  });

  it('stays where the stack itself is deleted', async () => {
    const blueprints = deployment(echo('kept', 'a'));
    await send(event(blueprints));
    expect(await send(event(blueprints, { RequestType: 'Delete' }))).toEqual({ outcome: 'nothing to do' });
    expect(lastAnswer()).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'stack-blueprints' });
    expect(await heads('kept')).toMatchObject([{ deleted: false }]);
  });
});

describe('an id that an agent has', () => {
  const agent = {
    ...LOCAL_PRINCIPAL,
    id: 'token:agent',
    kind: 'token' as const,
    scopes: ['schedules:write'],
  };

  async function agentsWorkflow(id: string): Promise<void> {
    const document = { abi: 1 as const, blueprint: echo(id, 'mine') as never, tools: {}, workflows: {} };
    const hash = documentHash(document);
    await putDocument(test.env.store, id, hash, document);
    const arn = `arn:aws:states:us-east-1:000000000000:stateMachine:mwe-${id}`;
    const machine = { stateMachineArn: arn, versionArn: `${arn}:1` };
    await putRevision(test.env.store, revisionRecord({ workflow: id, hash, principal: agent }));
    await commitHead(
      test.env.store,
      headRecord({ workflow: id, hash, owner: agent, readOnly: false, ...machine }),
      undefined,
    );
  }

  it('is taken over, the log says so, and the agent is told where to change it', async () => {
    await agentsWorkflow('taken');
    await scheduleWorkflow(test.env, agent, { id: 'taken', schedule: 'cron(0 2 1 1 ? 2199)' });
    const awsName = awsScheduleName('taken', 'default');
    const find = () =>
      test.env.scheduler.send(
        new GetScheduleCommand({ Name: awsName, GroupName: test.env.config.schedules.groupName }),
      );
    await find();
    await send(event(deployment(echo('taken', 'ours'))));
    const head = (await getHead(test.env.store, 'taken')) as WorkflowHead;
    expect(head).toMatchObject({ readOnly: true, owner: { id: 'stack' }, revision: 2 });
    expect(log.find((entry) => entry.event === 'stack-blueprint-takeover')).toMatchObject({
      level: 'warn',
      workflow: 'taken',
      owner: 'token:agent',
    });
    // Its schedule would fire for a revision of the agent's for ever.
    await expect(find()).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    expect(await listScheduleRecords(test.env.store, 'taken')).toEqual([]);
    expect(() => requireChange(agent, head)).toThrow('change blueprints/taken.json and deploy');
  });

  it('is taken from under a save that is under way', async () => {
    await putRevision(
      test.env.store,
      revisionRecord({
        workflow: 'busy',
        hash: 'f'.repeat(64),
        principal: agent,
        createdAt: new Date(test.env.now()).toISOString(),
      }),
    );
    expect(await send(event(deployment(echo('busy', 'ours'))))).toEqual({
      outcome: expect.stringContaining('1 published'),
    });
    expect(await heads('busy')).toMatchObject([{ revision: 2 }]);
  });
});

describe('schedules', () => {
  it('have records that go with their deployment', async () => {
    const schedules = [
      { name: 'nightly', schedule: 'cron(0 2 * * ? *)', timezone: 'Europe/Vienna', params: { n: 1 } },
    ];
    const params = { n: { type: 'number', default: 0 } };
    const [one] = deployment(echo('timed', 'a', { params, schedules }));
    await send(event([one]));
    const awsName = awsScheduleName('timed', 'nightly');
    expect(await getScheduleRecord(test.env.store, 'timed', awsName)).toMatchObject({
      expression: 'cron(0 2 * * ? *)',
      timezone: 'Europe/Vienna',
      enabled: true,
      readOnly: true,
      principal: STACK_PRINCIPAL,
      revision: 1,
      versionArn: one?.versionArn,
      params: '{"n":1}',
    });
    await send(event(deployment(echo('timed', 'a', { params }))));
    expect(await listScheduleRecords(test.env.store, 'timed')).toEqual([]);
  });
});

describe('what cannot be done', () => {
  it.each<[what: string, sent: () => object, reason: RegExp]>([
    [
      'another resource',
      () => event([], { ResourceType: 'Custom::Other' }),
      /^Error: this function has nothing to do with Custom::Other$/,
    ],
    ['no blueprints', () => event('x'), /^ZodError: .*expected array/],
    [
      'an id that is none',
      () => event([{ id: '../x', hash: 'f'.repeat(64), stateMachineArn: 'a', versionArn: 'b' }]),
      /^ZodError: /,
    ],
    [
      'a document that is not shipped',
      () => event([{ id: 'none', hash: 'f'.repeat(64), stateMachineArn: 'a', versionArn: 'b' }]),
      /^Error: no document f{64}$/,
    ],
  ])('%s: FAILED, in one line', async (_what, sent, reason) => {
    await send(sent());
    const { Status, Reason, PhysicalResourceId } = lastAnswer() ?? {};
    expect({ Status, PhysicalResourceId }).toEqual({
      Status: 'FAILED',
      PhysicalResourceId: 'stack-blueprints',
    });
    expect(Reason).toMatch(reason);
    expect(String(Reason)).not.toContain('\n');
    expect(Buffer.byteLength(JSON.stringify(lastAnswer()))).toBeLessThan(4096);
  });

  it.each([
    [2, 'SUCCESS'],
    [3, 'FAILED'],
  ])('rights that come late are waited for: refused %i times, %s', async (times, status) => {
    const blueprints = deployment(echo(`rights-${times}`, 'a'));
    denials = times;
    await send(event(blueprints));
    denials = 0;
    expect(lastAnswer()).toMatchObject({ Status: status });
    if (status === 'FAILED') expect(lastAnswer()?.Reason).toBe('AccessDenied: not authorized');
  });

  it('a document that is not what its hash says is not published', async () => {
    const [entry] = deployment(echo('other', 'a'));
    const [real] = deployment(echo('real', 'a'));
    const sent = event([{ ...entry, hash: real?.hash }]);
    await send(sent);
    expect(lastAnswer()).toMatchObject({ Status: 'FAILED' });
    expect(await heads('other')).toEqual([undefined]);
  });

  it('an answer that is not taken at once is given again; one that never is, is thrown without its URL', async () => {
    const blueprints = deployment(echo('answered', 'a'));
    statuses = [500, 503, 200];
    expect(await send(event(blueprints))).toMatchObject({ outcome: expect.stringContaining('1 published') });
    expect(told.length).toBe(3);
    statuses = [403];
    const thrown: unknown = await send(event(blueprints)).catch((error: unknown) => error);
    expect(String(thrown)).toBe('Error: CloudFormation could not be answered (HTTP 403)');
    const gone = { ResponseURL: 'http://127.0.0.1:9/?very-secret' };
    await expect(send(event(blueprints, gone))).rejects.toThrow('could not be answered (TypeError)');
    await expect(send(event(blueprints, { ResponseURL: 'http://example.com/very-secret' }))).rejects.toThrow(
      'the ResponseURL of the event is no https URL',
    );
    expect(JSON.stringify(log)).not.toContain('very-secret');
  });
});
