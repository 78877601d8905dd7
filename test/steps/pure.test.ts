/** The parts of lib/steps that only count. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ERROR_KINDS, RETRIED_KINDS, type StepError } from '../../lib/blueprint/errors.ts';
import type { Blueprint, Step } from '../../lib/blueprint/types.ts';
import { parseProgram } from '../../lib/compile/parse.ts';
import { planFailures } from '../../lib/compile/plan/failures.ts';
import type { Strategy } from '../../lib/compile/program.ts';
import { createAttemptBudget } from '../../lib/steps/budget.ts';
import { executionArnOf } from '../../lib/steps/executions.ts';
import { failureEndsRun, publicFailure } from '../../lib/steps/failure.ts';
import { laneCount, laneOf } from '../../lib/steps/loop/lanes.ts';
import { createWindowSizer } from '../../lib/steps/loop/window-size.ts';
import { iterationOf, iterationsOf, prefixAtDepth } from '../../lib/steps/occurrence.ts';
import { indexProgram } from '../../lib/steps/program-index.ts';
import { retryDelay } from '../../lib/steps/retry.ts';

const strategy = (more: Partial<Strategy>): Strategy => ({
  onStepFailure: 'abort',
  maxRetries: 3,
  retryDelayMs: 100,
  backoffRate: 2,
  maxDelayMs: 350,
  jitter: false,
  collectErrors: true,
  ...more,
});

test('delays grow to their limit and end with the tries', () => {
  const delays = [1, 2, 3, 4].map((attempts) => retryDelay(strategy({}), 'ToolError', attempts, () => 0.5));
  expect(delays).toEqual([100, 200, 350, undefined]);
  expect(retryDelay(strategy({ jitter: true }), 'ToolError', 2, () => 0.5)).toBe(100);
  expect(retryDelay(strategy({ maxRetries: 0 }), 'ToolError', 1, () => 0.5)).toBeUndefined();
});

test.each(ERROR_KINDS.map((kind) => ({ kind })))(
  '$kind is retried only if it is among the retried kinds',
  ({ kind }) => {
    expect(retryDelay(strategy({}), kind, 1, () => 0) !== undefined).toBe(RETRIED_KINDS.includes(kind));
  },
);

test('occurrence paths', () => {
  const prefix = iterationOf('pods', 12) + iterationOf('containers', 3);
  expect(prefix).toBe('pods/00012/containers/00003/');
  expect(iterationsOf(prefix)).toEqual([
    { loop: 'pods', index: 12 },
    { loop: 'containers', index: 3 },
  ]);
  expect([0, 1, 2].map((depth) => prefixAtDepth(prefix, depth))).toEqual(['', 'pods/00012/', prefix]);
  expect(() => prefixAtDepth(prefix, 3)).toThrow(/fewer than 3/);
});

test('lanes share all items among them, and the concurrency', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 11, max: 400 }),
      fc.integer({ min: 0, max: 100_000 }),
      (concurrency, count) => {
        const lanes = Array.from({ length: laneCount(concurrency) }, (_, lane) =>
          laneOf(concurrency, count, lane),
        );
        expect(lanes[0]?.from).toBe(0);
        expect(lanes.at(-1)?.to).toBe(count);
        for (const [i, lane] of lanes.entries()) {
          if (i > 0) expect(lane.from).toBe(lanes[i - 1]?.to);
          expect(lane.concurrency).toBeLessThanOrEqual(10);
        }
        expect(lanes.reduce((sum, lane) => sum + lane.concurrency, 0)).toBe(concurrency);
      },
    ),
  );
});

test('windows take about their time, and never fewer items than run at once', () => {
  const sizer = createWindowSizer(250, 4);
  expect(sizer.size()).toBe(4);
  for (let i = 0; i < 50; i += 1) sizer.ended(20);
  expect(sizer.size()).toBe(50);
  for (let i = 0; i < 50; i += 1) sizer.ended(60_000);
  expect(sizer.size()).toBe(4);
  for (let i = 0; i < 100; i += 1) sizer.ended(0);
  expect(sizer.size()).toBe(1000);
});

test('attempts are counted before they are drawn, by the window, and never past the limit', async () => {
  const counted: number[] = [];
  let total = 0;
  const budget = createAttemptBudget(async (attempts) => {
    if (total + attempts > 10) return false;
    total += attempts;
    counted.push(attempts);
    return true;
  }, 10);
  await budget.reserve(6);
  for (let i = 0; i < 4; i += 1) expect(budget.draw()).toBeUndefined();
  await budget.reserve(6);
  expect(counted).toEqual([6, 4]);
  for (let i = 0; i < 6; i += 1) await budget.draw();
  await expect(budget.draw()).rejects.toMatchObject({ kind: 'LimitExceeded' });
  await expect(budget.reserve(1)).rejects.toMatchObject({ kind: 'LimitExceeded' });
});

test('what is being counted is not drawn yet: beside a reservation that fails, each attempt is counted by itself', async () => {
  let answer: (counted: boolean) => void = () => undefined;
  const counted: number[] = [];
  const budget = createAttemptBudget((attempts) => {
    counted.push(attempts);
    return new Promise((resolve) => {
      answer = resolve;
    });
  }, 10);
  const reserving = expect(budget.reserve(5)).rejects.toMatchObject({ kind: 'LimitExceeded' });
  const refuse = answer;
  const drawn = expect(budget.draw()).rejects.toMatchObject({ kind: 'LimitExceeded' });
  answer(false);
  refuse(false);
  await reserving;
  await drawn;
  expect(counted).toEqual([5, 1]);
});

test('an execution by its machine, or by a version of it', () => {
  const machine = 'arn:aws:states:eu-west-1:123456789012:stateMachine:mwe-a';
  const execution = 'arn:aws:states:eu-west-1:123456789012:execution:mwe-a:run';
  expect([machine, `${machine}:3`].map((arn) => executionArnOf(arn, 'run'))).toEqual([execution, execution]);
});

test('what leaves call-tool is one line of our own words', () => {
  const error: StepError = {
    step: 'a',
    path: 'a',
    kind: 'ToolError',
    message: 'secret\nof the tool',
    attempts: 2,
    server: 's',
    tool: 't',
  };
  const failure = publicFailure(error);
  expect(failure.stack).toBe('ToolError: step "a" (s/t): the tool answered with an error after 2 attempts');
  expect(failure.message).not.toContain('secret');
});

/** Programs of every nesting, with `abort` or `continue` anywhere. */
const steps = (): fc.Arbitrary<Step> => {
  const { tree } = fc.letrec<{ tree: Step }>((tie) => {
    const strategies = fc.constantFrom(undefined, 'abort' as const, 'continue' as const);
    const made = (make: (parts: Step[]) => object) =>
      fc
        .tuple(strategies, fc.array(tie('tree'), { minLength: 1, maxLength: 2 }))
        .map(([onStepFailure, parts]) => ({
          id: 'x',
          ...(onStepFailure === undefined ? {} : { errorStrategy: { onStepFailure } }),
          ...make(parts),
        })) as fc.Arbitrary<Step>;
    return {
      tree: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        strategies.map((onStepFailure) => ({
          id: 'x',
          type: 'call',
          tool: 's/t',
          ...(onStepFailure === undefined ? {} : { errorStrategy: { onStepFailure } }),
        })) as fc.Arbitrary<Step>,
        made((parts) => ({ type: 'pipe', steps: parts })),
        made((parts) => ({ type: 'collect', steps: parts })),
        made((parts) => ({ type: 'parallel', branches: parts })),
        made((parts) => ({ type: 'loop', over: [1], mode: 'map', do: parts })),
        made((parts) => ({ type: 'loop', while: '{{ output }}', max: 2, mode: 'map', do: parts })),
      ),
    };
  });
  return tree;
};

/** Ids made unique, in the order of the tree. */
function numbered(step: Step, next: { id: number }): Step {
  const id = `s${next.id++}`;
  const inner = (list: Step[]): Step[] => list.map((each) => numbered(each, next));
  switch (step.type) {
    case 'call':
      return { ...step, id };
    case 'loop':
      return { ...step, id, do: inner(step.do as Step[]) };
    case 'parallel':
      return { ...step, id, branches: inner(step.branches as Step[]) };
    case 'pipe':
    case 'collect':
      return { ...step, id, steps: inner(step.steps) };
  }
}

test('a task closes the run exactly where the compiled machine leaves its error uncaught', () => {
  fc.assert(
    fc.property(fc.array(steps(), { minLength: 1, maxLength: 3 }), (trees) => {
      const next = { id: 0 };
      const blueprint: Blueprint = { id: 'b', steps: trees.map((tree) => numbered(tree, next)) };
      const program = parseProgram(blueprint);
      const index = indexProgram(program);
      for (const [id, target] of planFailures(program)) {
        const node = program.byId.get(id);
        if (node === undefined) throw new Error(id);
        expect(`${id} ${failureEndsRun(index, node)}`).toBe(`${id} ${target.to === 'end-run'}`);
      }
    }),
  );
});
