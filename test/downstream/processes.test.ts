/** Children end with the engine, however it ends. A process of its own stands for the engine. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, it } from 'vitest';
import { afterTest, isAlive, temporaryFolder, until } from './fixtures/setup.ts';

const SOURCE = resolve(import.meta.dirname, '../../lib/downstream/processes.ts');

/** A child that ignores everything that can be ignored and started a child of its own. */
const STUBBORN = `
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  const own = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  console.log(process.pid, own.pid);
  setInterval(() => undefined, 1000);
`;

async function engine(ending: string): Promise<{ pid: number; children: number[]; ended: Promise<unknown> }> {
  const folder = temporaryFolder();
  buildSync({
    entryPoints: [SOURCE],
    outfile: join(folder, 'processes.mjs'),
    platform: 'node',
    format: 'esm',
  });
  writeFileSync(
    join(folder, 'engine.mjs'),
    `import { spawn } from 'node:child_process';
     import { detachedGroup, watchChild } from './processes.mjs';
     const child = spawn(process.execPath, ['-e', ${JSON.stringify(STUBBORN)}], { detached: detachedGroup, stdio: ['pipe', 'pipe', 'inherit'] });
     watchChild(child);
     child.stdout.once('data', (pids) => { process.stdout.write(pids); ${ending} });`,
  );
  const engine = spawn(process.execPath, [join(folder, 'engine.mjs')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((done) => engine.once('exit', (code, signal) => done(signal ?? code)));
  const pids = await new Promise<string>((done) =>
    engine.stdout.once('data', (chunk: Buffer) => done(`${chunk}`)),
  );
  const children = pids.trim().split(' ').map(Number);
  afterTest(() => {
    for (const pid of [engine.pid as number, ...children]) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return { pid: engine.pid as number, children, ended };
}

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'on %s, which still ends the engine as it would',
  async (signal) => {
    const { pid, children, ended } = await engine('');
    expect(children.map(isAlive)).toEqual([true, true]);
    process.kill(pid, signal);
    expect(await ended).toBe(signal);
    await until(() => !children.some(isAlive), 'the children end');
  },
);

it.each([
  ['process.exit(4)', 4],
  ["throw new Error('unexpected')", 1],
  [
    "process.on('SIGINT', () => setTimeout(() => process.exit(5), 20)); process.kill(process.pid, 'SIGINT')",
    5,
  ],
])('on %s', async (ending, code) => {
  const { children, ended } = await engine(ending);
  expect(await ended).toBe(code);
  await until(() => !children.some(isAlive), 'the children end');
});

it('when the child itself dies, what it started goes with it', async () => {
  const { children } = await engine('');
  process.kill(children[0] as number, 'SIGKILL');
  await until(() => !children.some(isAlive), 'both end');
});
