/**
 * Workflows and their revisions. HEAD says which revision is current; revisions are numbered without gaps and never
 * reused, also past a deletion.
 *
 * Saving is a row of conditional writes: revision n PENDING (`putRevision`), the machine (not here), `publishRevision`,
 * `commitHead`. Who comes second at any of them learns it and looks again.
 */
import type { WorkflowBinding } from '../blueprint/types.ts';
import { ABSENT, getItem, getItems, type Item, putItem, queryPage, recordOf, updateItem } from './item.ts';
import { headKey, revisionKey } from './keys.ts';
import type { Principal, WorkflowHead, WorkflowRevision } from './records.ts';
import type { Store } from './store.ts';
import { INDEXES } from './table.ts';

const headOf = (item: Item): WorkflowHead =>
  recordOf<WorkflowHead>(item, ['workflow', 'owner', 'revision', 'hash', 'stateMachineArn']);
const revisionOf = (item: Item): WorkflowRevision =>
  recordOf<WorkflowRevision>(item, ['workflow', 'revision', 'hash', 'state']);

/** Reads a workflow's head, consistently; a deleted one has `deletedAt`. */
export async function getHead(store: Store, workflow: string): Promise<WorkflowHead | undefined> {
  const item = await getItem(store, headKey(workflow));
  return item === undefined ? undefined : headOf(item);
}

/** One page of the workflows that are not deleted, latest saved first. `cursor` is to be authenticated by the caller. */
export async function listHeads(
  store: Store,
  options: { cursor?: string; limit?: number } = {},
): Promise<{ heads: WorkflowHead[]; cursor?: string }> {
  const { cursor, limit = 50 } = options;
  const page = await queryPage(store, {
    index: INDEXES.byTime,
    pk: 'WORKFLOWS',
    newestFirst: true,
    limit,
    ...(cursor === undefined
      ? {}
      : {
          after: {
            ...headKey(cursor.slice(cursor.indexOf('#') + 1)),
            [INDEXES.byTime.pk]: 'WORKFLOWS',
            [INDEXES.byTime.sk]: cursor,
          },
        }),
  });
  const items = await getItems(
    store,
    page.items.map((item) => ({ pk: String(item.pk), sk: 'HEAD' })),
  );
  const heads = items.flatMap((item) => (item === undefined ? [] : [headOf(item)]));
  const last = page.next?.[INDEXES.byTime.sk];
  return {
    heads: heads.filter((head) => head.deletedAt === undefined),
    ...(last === undefined ? {} : { cursor: String(last) }),
  };
}

/** Puts revision n, PENDING. False: the number is taken; look at it and use the next, or finish it. */
export async function putRevision(store: Store, revision: WorkflowRevision): Promise<boolean> {
  const key = revisionKey(revision.workflow, revision.revision);
  // Two saves at once cannot both have the number.
  if (await putItem(store, { ...key, ...revision }, ABSENT)) return true;
  // The SDK repeats a write whose answer was lost: a pending revision of this document and moment is this one.
  const current = await getRevision(store, revision.workflow, revision.revision);
  return (
    current?.state === 'PENDING' &&
    current.hash === revision.hash &&
    current.createdAt === revision.createdAt &&
    current.principal.id === revision.principal.id
  );
}

/** Marks a pending revision as published. Undefined: it is not pending any more, or is another document's. */
export async function publishRevision(
  store: Store,
  workflow: string,
  revision: number,
  published: {
    hash: string;
    stateMachineArn: string;
    versionArn: string;
    /** Who publishes it: the authority of what it pins. It may be another than the one whose save a crash cut short. */
    principal?: Principal;
  },
): Promise<WorkflowRevision | undefined> {
  const item = await updateItem(
    store,
    revisionKey(workflow, revision),
    {
      set: {
        state: 'PUBLISHED',
        stateMachineArn: published.stateMachineArn,
        versionArn: published.versionArn,
        principal: published.principal,
      },
    },
    // Pending, or published just so (a write whose answer was lost): an expired one stays expired.
    {
      expression: '#hash = :hash AND (#state = :pending OR (#state = :published AND #versionArn = :version))',
      values: {
        ':hash': published.hash,
        ':pending': 'PENDING',
        ':published': 'PUBLISHED',
        ':version': published.versionArn,
      },
    },
  );
  return item === undefined ? undefined : revisionOf(item);
}

/** Gives up a pending revision whose save never ended. False: it is not pending. */
export async function expireRevision(store: Store, workflow: string, revision: number): Promise<boolean> {
  const item = await updateItem(
    store,
    revisionKey(workflow, revision),
    { set: { state: 'EXPIRED' } },
    // Its own save may publish it at this moment; one of the two happens.
    {
      expression: '#state = :pending OR #state = :expired',
      values: { ':pending': 'PENDING', ':expired': 'EXPIRED' },
    },
  );
  return item !== undefined;
}

/** Gives up a published revision whose version is about to be deleted. False: it is no revision with that version. */
export async function retireRevision(
  store: Store,
  workflow: string,
  revision: number,
  versionArn: string,
): Promise<boolean> {
  const item = await updateItem(
    store,
    revisionKey(workflow, revision),
    { set: { state: 'RETIRED' } },
    // The version that was looked at; retired already where a crash came before the deletion.
    {
      expression: '#versionArn = :version AND (#state = :published OR #state = :retired)',
      values: { ':version': versionArn, ':published': 'PUBLISHED', ':retired': 'RETIRED' },
    },
  );
  return item !== undefined;
}

/**
 * Makes a published revision the current one. `before` is the revision that HEAD had when the save began (undefined: there
 * was no HEAD). False: another save has come in between.
 */
export async function commitHead(
  store: Store,
  head: WorkflowHead,
  before: number | undefined,
): Promise<boolean> {
  const written = await putItem(
    store,
    {
      ...headKey(head.workflow),
      ...head,
      ...(head.deletedAt === undefined ? listKeys(head.workflow, head.updatedAt) : {}),
    },
    before === undefined
      ? ABSENT
      : // The head that the save started from; a tombstone keeps its number, so saving again goes on from it.
        { expression: '#revision = :before', values: { ':before': before } },
  );
  if (written) return true;
  const current = await getHead(store, head.workflow);
  return current?.revision === head.revision && current.hash === head.hash;
}

/** Marks a workflow deleted as of revision `revision`. Undefined: it was saved in between, or there is none. */
export async function tombstone(
  store: Store,
  workflow: string,
  revision: number,
  deletedAt: string,
): Promise<WorkflowHead | undefined> {
  const item = await updateItem(
    store,
    headKey(workflow),
    {
      setOnce: { deletedAt },
      // It leaves the list; the item stays, with the numbering.
      remove: [INDEXES.byTime.pk, INDEXES.byTime.sk],
    },
    // The revision that was asked to go: a save in between is not deleted along with it.
    { expression: '#revision = :revision', values: { ':revision': revision } },
  );
  return item === undefined ? undefined : headOf(item);
}

export async function getRevision(
  store: Store,
  workflow: string,
  revision: number,
): Promise<WorkflowRevision | undefined> {
  const item = await getItem(store, revisionKey(workflow, revision));
  return item === undefined ? undefined : revisionOf(item);
}

/** One page of a workflow's revisions, newest first, whatever their state; consistent. */
export async function listRevisions(
  store: Store,
  workflow: string,
  options: { cursor?: number; limit?: number } = {},
): Promise<{ revisions: WorkflowRevision[]; cursor?: number }> {
  const { cursor, limit = 50 } = options;
  const page = await queryPage(store, {
    pk: headKey(workflow).pk,
    prefix: 'REV#',
    newestFirst: true,
    limit,
    ...(cursor === undefined ? {} : { after: { ...revisionKey(workflow, cursor) } }),
  });
  const revisions = page.items.map(revisionOf);
  const last = revisions.at(-1);
  return { revisions, ...(page.next === undefined || last === undefined ? {} : { cursor: last.revision }) };
}

/** The highest revision, whatever its state: the next one is one more. */
export async function latestRevision(store: Store, workflow: string): Promise<WorkflowRevision | undefined> {
  return (await listRevisions(store, workflow, { limit: 1 })).revisions[0];
}

/** The newest published revision of a document. */
export async function findRevisionByHash(
  store: Store,
  workflow: string,
  hash: string,
): Promise<WorkflowRevision | undefined> {
  let cursor: number | undefined;
  do {
    const page = await listRevisions(store, workflow, cursor === undefined ? {} : { cursor });
    const found = page.revisions.find((revision) => revision.hash === hash && revision.state === 'PUBLISHED');
    if (found !== undefined) return found;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return undefined;
}

/** The revision that a sub-workflow step is pinned to. Undefined: there is none of that number with that document. */
export async function getBoundRevision(
  store: Store,
  binding: WorkflowBinding,
): Promise<WorkflowRevision | undefined> {
  const { workflow, revision, hash } = binding;
  if (revision === undefined) return findRevisionByHash(store, workflow, hash);
  const found = await getRevision(store, workflow, revision);
  return found?.hash === hash ? found : undefined;
}

function listKeys(workflow: string, updatedAt: string): Item {
  return { [INDEXES.byTime.pk]: 'WORKFLOWS', [INDEXES.byTime.sk]: `${updatedAt}#${workflow}` };
}
