import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readCursorSecret } from '../../lib/cli/cursor-secret.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-secret-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('is made once, for its user alone', async () => {
  const secret = await readCursorSecret(folder);
  expect(secret).toMatch(/^[\w-]{43}$/);
  expect(await readCursorSecret(folder)).toBe(secret);
  expect(await readdir(folder)).toEqual(['cursor-secret']);
  expect((await stat(join(folder, 'cursor-secret'))).mode & 0o777).toBe(0o600);
});

it.each(['', 'short', 'a'.repeat(42), 'a'.repeat(43).concat('\n')])(
  'is not %j, left by a write that was cut short',
  async (left) => {
    await writeFile(join(folder, 'cursor-secret'), left);
    const secret = await readCursorSecret(folder);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(secret).not.toBe(left);
    expect(await readCursorSecret(folder)).toBe(secret);
  },
);

it('is not made anew where it cannot be read', async () => {
  await expect(readCursorSecret(join(folder, 'cursor-secret\0'))).rejects.toThrow();
});
