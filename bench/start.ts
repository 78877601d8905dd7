/** (e) From `npm start` to ready, and memory at rest. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../lib/cli/project.ts';
import { type Figure, median, rounded } from './measure.ts';

/** After this long without work nothing more is collected. */
const REST_MS = 3000;

export async function benchStart(): Promise<Figure[]> {
  const times: number[] = [];
  let memory = 0;
  for (let round = 0; round < 5; round++) {
    const { ms, residentKiB } = await startOnce(round === 4);
    times.push(ms);
    memory = residentKiB;
  }
  return [
    { name: 'npm start to ready', value: rounded(median(times)), unit: 'ms', aim: '2,000' },
    { name: 'memory at rest', value: rounded(memory / 1024), unit: 'MiB' },
  ];
}

async function startOnce(measureMemory: boolean): Promise<{ ms: number; residentKiB: number }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mwe-bench-'));
  const started = performance.now();
  const child = spawn('npm', ['start', '-s', '--', '--port', '0', '--data', dataDir], {
    cwd: projectRoot(),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await once(child.stdout, 'data');
  const ms = performance.now() - started;
  let residentKiB = 0;
  if (measureMemory) {
    await sleep(REST_MS);
    residentKiB = await residentOf(dataDir);
  }
  const exited = once(child, 'exit');
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  await exited;
  await rm(dataDir, { recursive: true, force: true });
  return { ms, residentKiB };
}

/** Resident memory of the engine, which is the process that holds the data folder's lock. */
async function residentOf(dataDir: string): Promise<number> {
  const pid = /\d+/.exec(await readFile(join(dataDir, 'engine.lock'), 'utf8'))?.[0];
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
}
