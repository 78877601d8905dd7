/** Blueprints that are there from the start, on one machine. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { seedBlueprints } from '../../lib/cli/seed-blueprints.ts';
import { getDocument } from '../../lib/store/documents.ts';
import { getHead } from '../../lib/store/workflows.ts';
import { startEnvironment, type TestEnvironment } from '../engine/engine-environment.ts';

let test: TestEnvironment;
beforeAll(async () => {
  test = await startEnvironment();
});
afterAll(() => test.stop());
const folders: string[] = [];
afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true });
});

function folderOf(files: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), 'mwe-seed-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}
const calls = (id: string, workflow: string) => ({ id, steps: [{ id: 's', type: 'call', workflow }] });
const echo = (id: string) => ({ id, steps: [{ id: 's', type: 'call', tool: 'server/echo', parse: 'text' }] });

it('sub-workflows are saved before those that call them, whatever the files are called', async () => {
  const folder = folderOf({
    'a.json': calls('first', 'second'),
    'b.json': calls('second', 'third'),
    'c.json': echo('third'),
  });
  await seedBlueprints(test.env, folder);
  const first = await getHead(test.env.store, 'first');
  expect(first).toMatchObject({ readOnly: true, owner: { id: 'stack' }, revision: 1 });
  const document = await getDocument(test.env.store, 'first', first?.hash ?? '');
  const second = await getHead(test.env.store, 'second');
  expect(document.workflows).toEqual({ s: { workflow: 'second', revision: 1, hash: second?.hash } });
  await seedBlueprints(test.env, folder);
  expect(await getHead(test.env.store, 'first')).toEqual(first);
});

it.each([
  ['a.json', '{', /a\.json: not JSON/],
  ['a.json', { id: 'a', steps: [] }, /a\.json: the blueprint is not saved: 1 error\n {2}steps: /],
  ['a.json', calls('a', 'nobody'), /there is no workflow "nobody"/],
])('%s with %j is told with its file', async (name, content, message) => {
  await expect(seedBlueprints(test.env, folderOf({ [name]: content }))).rejects.toThrow(message);
});
