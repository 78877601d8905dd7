/** What was answered is kept, though the process is killed while it writes; the folder is taken over by the next. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { openStep } from '../../lib/store/open-step.ts';
import { allSteps } from '../../lib/store/steps.ts';
import { closeStore, openStore, type Store } from '../../lib/store/store.ts';
import { getValues, putValue } from '../../lib/store/values.ts';

const ROOT = join(import.meta.dirname, '../..');
const RUN = join(ROOT, 'scripts/run.js');
const PROGRAM = 'test/local/fixtures/local-process.ts';

let folder: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-crash-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<{ store: Store; kill(): Promise<void>; stderr(): string }> {
  const child = spawn(process.execPath, [RUN, PROGRAM, join(folder, 'data')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const endpoints = await new Promise<{ dynamodb: string; s3: string }>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The process ended: ${stderr}`)));
    child.stdout.once('data', (chunk: Buffer) => resolve(JSON.parse(chunk.toString())));
  });
  const store = openStore({
    tableName: 'mwe',
    bucketName: 'mwe-000000000000',
    region: LOCAL_REGION,
    endpoints,
    credentials: LOCAL_CREDENTIALS,
  });
  return {
    store,
    stderr: () => stderr,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

it('loses nothing that was answered', async () => {
  const answered: string[] = [];
  for (let life = 0; life < 3; life += 1) {
    const { store, kill, stderr } = await start();
    let killed: Promise<void> | undefined;
    const write = async (lane: number): Promise<void> => {
      for (let index = 0; killed === undefined; index += 1) {
        const at = `life${life}/${lane}/${index}`;
        const text = at.repeat(lane === 0 ? 2000 : 1);
        await putValue(store, 'run', at, text);
        await openStep(store, {
          run: 'run',
          at,
          step: 's',
          type: 'call',
          owner: 'a',
          epoch: 0,
          leaseMs: 1,
          now: 0,
        });
        answered.push(at);
        if (answered.length === 20 * (life + 1)) killed = kill();
      }
    };
    // What is in flight when the process dies is not answered.
    await Promise.allSettled([0, 1, 2, 3].map(write));
    await killed;
    closeStore(store);
    expect(stderr()).toBe('');
  }
  const { store, kill } = await start();
  const found = new Set((await allSteps(store, 'run')).map(({ at }) => at));
  expect(answered.filter((at) => !found.has(at))).toEqual([]);
  const values = await getValues(store, 'run', answered);
  for (const [index, at] of answered.entries()) expect(String(values[index]).startsWith(at)).toBe(true);
  closeStore(store);
  await kill();
}, 60_000);
