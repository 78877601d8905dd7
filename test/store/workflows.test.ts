/** Heads and revisions: numbering, saves that meet, deletion. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentHash } from '../../lib/blueprint/canonical.ts';
import type { BlueprintDocument } from '../../lib/blueprint/types.ts';
import { LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { getCachedCatalog, putCatalog } from '../../lib/store/catalog.ts';
import { getClaim, putClaim } from '../../lib/store/claims.ts';
import { getDocument, putDocument } from '../../lib/store/documents.ts';
import { putObject } from '../../lib/store/objects.ts';
import { closeStore, openStore } from '../../lib/store/store.ts';
import {
  commitHead,
  expireRevision,
  findRevisionByHash,
  getBoundRevision,
  getHead,
  getRevision,
  latestRevision,
  listHeads,
  listRevisions,
  publishRevision,
  putRevision,
  tombstone,
} from '../../lib/store/workflows.ts';
import { headRecord, revisionRecord } from './records.ts';
import { freshId, type StandIns, startStandIns } from './stand-ins.ts';

let standIns: StandIns;
beforeAll(async () => {
  standIns = await startStandIns();
});
afterAll(() => standIns.stop());

const freshWorkflow = (): string => `w-${freshId().slice(0, 8)}`;

describe('revisions', () => {
  it('gives a number to one of many saves', async () => {
    const workflow = freshWorkflow();
    const puts = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        putRevision(standIns.store, revisionRecord({ workflow, hash: `h${index}` })),
      ),
    );
    expect(puts.filter(Boolean)).toHaveLength(1);
  });

  it('are published or expired, never both', async () => {
    const { store } = standIns;
    const workflow = freshWorkflow();
    const published = { hash: 'h', stateMachineArn: 'm', versionArn: 'm:1' };
    await putRevision(store, revisionRecord({ workflow, hash: 'h' }));
    expect(await publishRevision(store, workflow, 1, { ...published, hash: 'other' })).toBeUndefined();
    expect(await publishRevision(store, workflow, 1, published)).toMatchObject({
      state: 'PUBLISHED',
      ...published,
    });
    expect(await publishRevision(store, workflow, 1, published)).toMatchObject({ state: 'PUBLISHED' });
    expect(await publishRevision(store, workflow, 1, { ...published, versionArn: 'm:2' })).toBeUndefined();
    expect(await expireRevision(store, workflow, 1)).toBe(false);

    await putRevision(store, revisionRecord({ workflow, revision: 2, hash: 'h' }));
    expect(await expireRevision(store, workflow, 2)).toBe(true);
    expect(await publishRevision(store, workflow, 2, published)).toBeUndefined();
    expect((await getRevision(store, workflow, 2))?.state).toBe('EXPIRED');
    expect(await expireRevision(store, workflow, 3)).toBe(false);
  });

  it('are listed newest first, and found by their document', async () => {
    const { store } = standIns;
    const workflow = freshWorkflow();
    expect(await latestRevision(store, workflow)).toBeUndefined();
    for (let revision = 1; revision <= 12; revision += 1) {
      await putRevision(
        store,
        revisionRecord({
          workflow,
          revision,
          hash: `h${revision % 3}`,
          state: revision === 12 ? 'PENDING' : 'PUBLISHED',
        }),
      );
    }
    expect((await latestRevision(store, workflow))?.revision).toBe(12);
    const seen: number[] = [];
    let cursor: number | undefined;
    do {
      const page = await listRevisions(store, workflow, {
        limit: 5,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.revisions.map(({ revision }) => revision));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect((await findRevisionByHash(store, workflow, 'h0'))?.revision).toBe(9);
    expect(await findRevisionByHash(store, workflow, 'none')).toBeUndefined();
    const bound = async (binding: { revision?: number; hash: string }) =>
      (await getBoundRevision(store, { workflow, ...binding }))?.revision;
    expect(await bound({ hash: 'h0' })).toBe(9);
    expect(await bound({ revision: 3, hash: 'h0' })).toBe(3);
    expect(await bound({ revision: 4, hash: 'h0' })).toBeUndefined();
    expect(await bound({ hash: 'none' })).toBeUndefined();
  });
});

describe('heads', () => {
  it('move on from where a save began, and no other way', async () => {
    const { store } = standIns;
    const workflow = freshWorkflow();
    const head = headRecord({ workflow });
    expect(await commitHead(store, head, undefined)).toBe(true);
    // Its own repetition is done; another first save is late.
    expect(await commitHead(store, head, undefined)).toBe(true);
    expect(await commitHead(store, { ...head, hash: 'other' }, undefined)).toBe(false);
    expect(await commitHead(store, { ...head, revision: 2 }, 1)).toBe(true);
    expect(await commitHead(store, { ...head, revision: 3 }, 1)).toBe(false);
    expect((await getHead(store, workflow))?.revision).toBe(2);
  });

  it('keep their numbering past a deletion', async () => {
    const { store } = standIns;
    const workflow = freshWorkflow();
    await commitHead(store, headRecord({ workflow, revision: 4 }), undefined);
    expect(await tombstone(store, workflow, 3, 'now')).toBeUndefined();
    expect(await tombstone(store, workflow, 4, 'now')).toMatchObject({ revision: 4, deletedAt: 'now' });
    expect(await tombstone(store, workflow, 4, 'later')).toMatchObject({ deletedAt: 'now' });
    expect(await commitHead(store, headRecord({ workflow, revision: 5 }), 4)).toBe(true);
    expect((await getHead(store, workflow))?.deletedAt).toBeUndefined();
  });

  it('are listed latest first, page by page, without the deleted', async () => {
    const { store } = standIns;
    const names = Array.from({ length: 7 }, freshWorkflow);
    for (const [index, workflow] of names.entries()) {
      await commitHead(
        store,
        headRecord({ workflow, updatedAt: `2027-01-01T00:00:0${index}.000Z` }),
        undefined,
      );
    }
    await tombstone(store, names[3] ?? '', 1, 'now');
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listHeads(store, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.heads.map(({ workflow }) => workflow));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen.filter((workflow) => names.includes(workflow))).toEqual(
      names.filter((_, index) => index !== 3).reverse(),
    );
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('documents', () => {
  const document: BlueprintDocument = {
    abi: 1,
    blueprint: {
      id: 'sync',
      steps: [{ id: 'one', type: 'call', tool: 'list', params: { x: 1e300, é: null } }],
    },
    tools: {},
    workflows: {},
  };
  const hash = documentHash(document);

  it('are stored under their hash and read back', async () => {
    await putDocument(standIns.store, 'sync', hash, document);
    await putDocument(standIns.store, 'sync', hash, document);
    expect(await getDocument(standIns.store, 'sync', hash)).toEqual(document);
    expect(getDocument(standIns.store, 'sync', hash)).toBe(getDocument(standIns.store, 'sync', hash));
  });

  it.each([
    ['a hash that is not its own', 'sync', 'a'.repeat(64)],
    ['a hash that is none', 'sync', '../x'],
    ['an id that is none', '../sync', hash],
  ])('are refused under %s', async (_what, id, given) => {
    await expect(putDocument(standIns.store, id, given, document)).rejects.toThrow();
  });

  it('are not read where they are missing or are not what they are called', async () => {
    const { store } = standIns;
    await expect(getDocument(store, 'sync', 'c'.repeat(64))).rejects.toThrow('There is no document');
    await putObject(store, `blueprints/sync/${'d'.repeat(64)}.json`, '{}', 'application/json');
    await expect(getDocument(store, 'sync', 'd'.repeat(64))).rejects.toThrow('not what its name says');
    // A failure is not remembered.
    await putDocument(store, 'other', hash, document);
    expect(await getDocument(store, 'other', hash)).toEqual(document);
  });

  it('are read by another process too', async () => {
    const another = openStore({
      tableName: 'mwe',
      bucketName: 'mwe-000000000000',
      region: LOCAL_REGION,
      endpoints: standIns.endpoints,
      credentials: LOCAL_CREDENTIALS,
    });
    await putDocument(standIns.store, 'sync', hash, document);
    expect(await getDocument(another, 'sync', hash)).toEqual(document);
    closeStore(another);
  });
});

describe('claims', () => {
  it('go to the first, and to the first again', async () => {
    const { store } = standIns;
    const pk = `CLAIM#schedule#${freshId()}`;
    const claims = await Promise.all(['a', 'b', 'c'].map((claimant) => putClaim(store, pk, claimant)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    const winner = ['a', 'b', 'c'][claims.indexOf(true)] ?? '';
    expect(await putClaim(store, pk, winner)).toBe(true);
    expect(await getClaim(store, pk)).toBe(winner);
    expect(await getClaim(store, 'CLAIM#none')).toBeUndefined();
  });
});

describe('catalogs', () => {
  it('keep what the servers of a configuration offer, small or large', async () => {
    const { store } = standIns;
    const large = Array.from({ length: 300 }, (_, index) => ({
      name: `tool_${index}`,
      description: 'x'.repeat(100),
    }));
    const [one, two] = [freshId(), freshId()];
    await putCatalog(store, { serversHash: one, fetchedAt: 'then', catalog: [] });
    await putCatalog(store, { serversHash: one, fetchedAt: 'now', catalog: large });
    await putCatalog(store, { serversHash: two, fetchedAt: 'now', catalog: [{ name: 'a' }] });
    expect(await getCachedCatalog(store, one)).toEqual({
      serversHash: one,
      fetchedAt: 'now',
      catalog: large,
    });
    expect(await getCachedCatalog(store, two)).toMatchObject({ catalog: [{ name: 'a' }] });
    expect(await getCachedCatalog(store, freshId())).toBeUndefined();
  });
});
