/** One process at a time, whatever became of the one before. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataFolderInUse, openDataFolder } from '../../lib/local/data-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'mwe-data-')), 'engine');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('openDataFolder', () => {
  it('makes a folder that only its user reads', async () => {
    const data = await openDataFolder(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(await data.subfolder('s3'))).mode & 0o777).toBe(0o700);
    await data.release();
  });

  it('makes the folders above it', async () => {
    const deep = join(folder, 'a', 'b');
    await (await openDataFolder(deep)).release();
    expect((await stat(deep)).isDirectory()).toBe(true);
  });

  it.each([
    ['a file', 'file', 'EEXIST'],
    ['something in a file', 'file/sub', 'ENOTDIR'],
  ])('says that %s is no folder', async (_what, path, code) => {
    await mkdir(folder);
    await writeFile(join(folder, 'file'), '');
    await expect(openDataFolder(join(folder, path))).rejects.toMatchObject({ code });
  });

  it.runIf(existsSync('/proc/self'))(
    'ends where nothing can be made (such a place is /proc, on Linux)',
    async () => {
      await expect(openDataFolder('/proc/mwe')).rejects.toMatchObject({
        code: expect.stringMatching(/ENOENT|EACCES|EROFS/),
      });
    },
  );

  it('closes a folder that was open to others', async () => {
    await mkdir(folder, { mode: 0o755 });
    const data = await openDataFolder(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await data.release();
  });

  it('refuses a folder that is in use, until it is let go', async () => {
    const first = await openDataFolder(folder);
    await expect(openDataFolder(folder)).rejects.toThrow(DataFolderInUse);
    await first.release();
    const second = await openDataFolder(folder);
    // What is late lets go of nothing.
    await first.release();
    await expect(openDataFolder(folder)).rejects.toMatchObject({ code: 'EDATAINUSE', pid: process.pid });
    await second.release();
  });

  const left: [string, () => Promise<string>][] = [
    ['a process that is gone', async () => JSON.stringify({ pid: await deadPid(), token: 'x' })],
    [
      'an earlier process of the same id',
      async () => JSON.stringify({ pid: process.pid, token: 'x', started: 'other/1' }),
    ],
    ['something else', async () => 'no lock'],
  ];
  it.each(left)('takes over the lock of %s', async (_what, content) => {
    await mkdir(folder);
    await writeFile(join(folder, 'engine.lock'), await content());
    const data = await openDataFolder(folder);
    await data.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('gives a lock that was left behind to one of many', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'engine.lock'), JSON.stringify({ pid: await deadPid(), token: 'x' }));
    const opened = await Promise.allSettled(Array.from({ length: 8 }, () => openDataFolder(folder)));
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('writes the endpoints, and takes them away when it lets go', async () => {
    const data = await openDataFolder(folder);
    await data.writeEndpoints({ mcp: 'http://127.0.0.1:1/mcp', sfn: 'http://127.0.0.1:2' });
    expect(JSON.parse(await readFile(join(folder, 'endpoints.json'), 'utf8'))).toEqual({
      mcp: 'http://127.0.0.1:1/mcp',
      sfn: 'http://127.0.0.1:2',
    });
    await data.release();
    expect(await readdir(folder)).toEqual([]);
  });
});
