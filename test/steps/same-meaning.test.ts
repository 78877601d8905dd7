/**
 * A body means the same whether it is walked inside one task or is made of states: random bodies, with failures and strategies
 * anywhere in them, run as a batch loop and as a map loop and come to the same output, errors and end.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint, Step } from '../../lib/blueprint/types.ts';
import { type Finished, freshName, type Harness, startHarness } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness.stop();
});

type Kind = 'work' | 'fail' | 'skip' | 'failWhen';
type Tree =
  | { is: 'call'; kind: Kind; reads: number; goOn: boolean }
  | { is: 'pipe' | 'collect' | 'parallel' | 'loop'; parts: Tree[]; goOn: boolean };

const { tree: trees } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.record({
      is: fc.constant('call' as const),
      kind: fc.constantFrom<Kind>('work', 'work', 'work', 'fail', 'skip', 'failWhen'),
      reads: fc.nat(3),
      goOn: fc.boolean(),
    }),
    fc.record({
      is: fc.constantFrom('pipe' as const, 'collect' as const, 'parallel' as const, 'loop' as const),
      parts: fc.array(tie('tree'), { minLength: 1, maxLength: 2 }),
      goOn: fc.boolean(),
    }),
  ),
}));

/** Steps of a list of trees; each may read one before it in its own list. */
function stepsOf(list: readonly Tree[], next: { id: number }, readable: readonly string[]): Step[] {
  const before = [...readable];
  return list.map((tree) => {
    const id = `s${next.id++}`;
    const errorStrategy = { onStepFailure: tree.goOn ? ('continue' as const) : ('abort' as const) };
    const step = tree.is === 'call' ? callOf(tree, id, before) : containerOf(tree, id, next, before);
    before.push(id);
    return { ...step, errorStrategy } as Step;
  });
}

function callOf(tree: Extract<Tree, { is: 'call' }>, id: string, readable: readonly string[]): JsonObject {
  const read = readable[readable.length - 1 - tree.reads];
  const value = `${id}:{{ item }}`;
  const params: JsonObject = read === undefined ? { value } : { value, from: `{{ steps.${read} }}` };
  return {
    id,
    type: 'call',
    tool: tree.kind === 'fail' ? 'counting/fail' : 'counting/work',
    params,
    ...(tree.kind === 'skip' ? { when: '{{ item == `1` }}' } : {}),
    ...(tree.kind === 'failWhen' ? { failWhen: '{{ $.item == `1` }}' } : {}),
  };
}

function containerOf(
  tree: Exclude<Tree, { is: 'call' }>,
  id: string,
  next: { id: number },
  readable: readonly string[],
): object {
  switch (tree.is) {
    case 'pipe':
    case 'collect':
      return { id, type: tree.is, steps: stepsOf(tree.parts, next, readable) };
    case 'parallel':
      return { id, type: 'parallel', branches: tree.parts.map((part) => stepsOf([part], next, readable)) };
    case 'loop':
      return {
        id,
        type: 'loop',
        over: ['x', 'y'],
        as: `inner${id}`,
        do: stepsOf(tree.parts, next, readable),
      };
  }
}

function blueprintOf(list: readonly Tree[], mode: 'batch' | 'map', goOn: boolean): Blueprint {
  return {
    id: freshName(),
    steps: [
      {
        id: 'each',
        type: 'loop',
        over: [0, 1],
        mode,
        errorStrategy: { onStepFailure: goOn ? 'continue' : 'abort' },
        do: stepsOf(list, { id: 0 }, []),
      },
    ],
    output: { value: '{{ steps.each }}', ended: '{{ results.each.items[].status }}' },
  };
}

const ending = ({ execution, error, output, errors }: Finished): unknown => ({
  execution,
  error,
  output,
  errors: (errors as JsonObject[])
    .map(({ path, kind, index }) => `${String(path)} ${String(kind)} ${String(index)}`)
    .sort(),
});

test('in a batch and as states', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(trees, { minLength: 1, maxLength: 3 }), async (list) => {
      const [batch, map] = await Promise.all([
        harness.run(blueprintOf(list, 'batch', true)),
        harness.run(blueprintOf(list, 'map', true)),
      ]);
      expect(ending(batch)).toEqual(ending(map));
    }),
    { numRuns: Number(process.env.SAME_MEANING_RUNS ?? 12) },
  );
}, 120_000);
