/** Functions in processes of their own: what Lambda promises them, seen from inside and outside. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from '../../lib/cli/project.ts';
import { createLambdaProcess, type LambdaProcess } from '../../rehearsal/lambda-process.ts';

let folder: string;
let log: string[];
const open: LambdaProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lambda-process-'));
  log = [];
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  await rm(folder, { recursive: true });
});

function start(
  bundle: string,
  more: { timeoutSeconds?: number; maxContainers?: number } = {},
): LambdaProcess {
  const made = createLambdaProcess(
    {
      name: 'answers',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:answers',
      folder: join(projectRoot(), 'test', 'rehearsal', 'bundles'),
      handler: `${bundle}.handler`,
      environment: { MWE_TABLE: 'mwe' },
      timeoutSeconds: more.timeoutSeconds ?? 30,
      memoryMb: 512,
      accessKey: 'role-x',
      region: 'us-east-1',
    },
    {
      runtime: join(projectRoot(), 'rehearsal', 'lambda-runtime.mjs'),
      folder,
      log: (line) => log.push(line),
      ...(more.maxContainers === undefined ? {} : { maxContainers: more.maxContainers }),
    },
  );
  open.push(made);
  return made;
}

const answerOf = (payload: string): Record<string, unknown> => JSON.parse(payload) as Record<string, unknown>;

describe('a function', () => {
  it('has the environment of its template and of Lambda, and nothing of ours', async () => {
    process.env.REHEARSAL_TEST_SECRET = 'x';
    const answer = answerOf((await start('answers').invoke({}, 'Root=1')).payload);
    delete process.env.REHEARSAL_TEST_SECRET;
    const names = answer.environment as string[];
    expect(names).toContain('MWE_TABLE');
    expect(names).toContain('AWS_ACCESS_KEY_ID');
    expect(names).not.toContain('REHEARSAL_TEST_SECRET');
    expect(names).not.toContain('HOME');
    expect(answer).toMatchObject({ name: 'answers', trace: 'Root=1' });
    expect(answer.remaining).toBeGreaterThan(25_000);
  });

  it('answers one event after the other in one process', async () => {
    const made = start('answers');
    const first = answerOf((await made.invoke({})).payload);
    const second = answerOf((await made.invoke({})).payload);
    expect(second.pid).toBe(first.pid);
  });

  it('answers events at the same time in processes of their own, and waits where there may be no more', async () => {
    const made = start('answers', { maxContainers: 2 });
    const answers = await Promise.all([1, 2, 3].map(() => made.invoke({ meet: 50 })));
    expect(new Set(answers.map((each) => answerOf(each.payload).pid)).size).toBe(2);
    expect(made.pids()).toHaveLength(2);
  });

  it('that throws is told as Lambda tells it', async () => {
    const made = start('answers');
    const { payload, functionError } = await made.invoke({ throw: 'no' });
    expect(functionError).toBe('Unhandled');
    expect(answerOf(payload)).toMatchObject({ errorType: 'TypeError', errorMessage: 'no' });
    expect((await made.invoke({})).functionError).toBeUndefined();
  });

  it('that takes too long is ended, and the next event starts another', async () => {
    const made = start('answers', { timeoutSeconds: 0.5 });
    const { payload } = await made.invoke({ hang: true });
    expect(answerOf(payload)).toMatchObject({ errorType: 'Sandbox.Timedout' });
    expect((await made.invoke({})).functionError).toBeUndefined();
  });

  it('whose process ends is told so', async () => {
    const made = start('answers');
    expect(answerOf((await made.invoke({ exit: 3 })).payload)).toMatchObject({
      errorType: 'Runtime.ExitError',
      errorMessage: 'The container ended: exit status 3',
    });
  });

  it('that cannot be loaded says why', async () => {
    expect(answerOf((await start('missing').invoke({})).payload)).toMatchObject({
      errorType: 'Runtime.ExitError',
      errorMessage: expect.stringContaining('missing.mjs') as string,
    });
  });

  it('leaves no process and no folder', async () => {
    const made = start('answers');
    const answer = answerOf((await made.invoke({})).payload);
    expect(existsSync(String(answer.tmp))).toBe(true);
    await made.close();
    expect(made.pids()).toEqual([]);
    expect(existsSync(String(answer.tmp))).toBe(false);
    expect(() => process.kill(Number(answer.pid), 0)).toThrow('ESRCH');
  });
});
