/** Whose authority stands in a revision and at a workflow's head: what pinned sub-workflows and console starts work with. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { documentHash } from '../../lib/blueprint/canonical.ts';
import type { BlueprintDocument } from '../../lib/blueprint/types.ts';
import { publish } from '../../lib/engine/publish.ts';
import type { Principal, WorkflowHead } from '../../lib/store/records.ts';
import { getHead, getRevision, putRevision } from '../../lib/store/workflows.ts';
import { startEnvironment, type TestEnvironment } from './engine-environment.ts';

let test: TestEnvironment;
beforeAll(async () => {
  test = await startEnvironment();
});
afterAll(() => test.stop());

const alice = (tools: string[]): Principal => ({ kind: 'token', id: 'token:alice', scopes: [], tools });
const ADMIN: Principal = { kind: 'token', id: 'token:root', scopes: ['admin'] };

function documentOf(id: string, description: string): BlueprintDocument {
  const steps = [{ id: 'a', type: 'call' as const, tool: 'k8s/read' }];
  return { abi: 1, blueprint: { id, description, steps }, tools: {}, workflows: {} };
}

async function save(principal: Principal, document: BlueprintDocument): Promise<WorkflowHead> {
  const { id } = document.blueprint;
  const head = await getHead(test.env.store, id);
  const stateMachineArn = `arn:aws:states:us-east-1:000000000000:stateMachine:mwe-${id}`;
  const machine = { stateMachineArn, versionArn: `${stateMachineArn}:${(head?.revision ?? 0) + 1}` };
  const publication = { document, hash: documentHash(document), head, readOnly: false };
  return publish(test.env, principal, publication, () => Promise.resolve(machine));
}

it('an owner that saves again is recorded with the list of that save; an admin that does leaves the owner as it was', async () => {
  await save(alice(['k8s/*']), documentOf('owned', 'first'));
  expect((await save(alice(['k8s/read']), documentOf('owned', 'second'))).owner).toEqual(alice(['k8s/read']));
  expect((await save(ADMIN, documentOf('owned', 'third'))).owner).toEqual(alice(['k8s/read']));
  const recorded = await Promise.all([1, 2, 3].map((n) => getRevision(test.env.store, 'owned', n)));
  expect(recorded.map((revision) => revision?.principal)).toEqual([
    alice(['k8s/*']),
    alice(['k8s/read']),
    ADMIN,
  ]);
});

it('a revision that a crash left behind has the authority of who finishes it, not of who began it', async () => {
  const document = documentOf('crashed', 'x');
  await putRevision(test.env.store, {
    workflow: 'crashed',
    revision: 1,
    hash: documentHash(document),
    principal: alice(['k8s/*', 'graph/*']),
    state: 'PENDING',
    createdAt: new Date(test.env.now()).toISOString(),
  });
  await save(alice(['k8s/read']), document);
  expect(await getRevision(test.env.store, 'crashed', 1)).toMatchObject({
    state: 'PUBLISHED',
    principal: alice(['k8s/read']),
  });
});
