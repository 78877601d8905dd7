/** Every kind of container in every kind, three deep: the value comes out as the sum of the rules. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { type Lab, startLab, value } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.end());

interface Wrapped {
  step: JsonObject;
  value: Json;
}

type Wrap = (id: string, inner: Wrapped) => Wrapped;

const twice = (id: string, inner: Wrapped, fields: JsonObject): Wrapped => ({
  step: { id, type: 'loop', over: ['a', 'b'], as: `item-${id}`, do: inner.step, ...fields },
  value: [inner.value, inner.value],
});
const passes = (id: string, inner: Wrapped, fields: JsonObject): Wrapped => ({
  step: { id, type: 'loop', while: '{{ index < `1` }}', max: 5, do: [inner.step], ...fields },
  value: [inner.value, inner.value],
});

/** How each kind of container is written around a step, and what becomes of its value. */
const WRAPS: Record<string, Wrap> = {
  batch: (id, inner) => twice(id, inner, { concurrency: 2 }),
  map: (id, inner) => twice(id, inner, { mode: 'map' }),
  lanes: (id, inner) => twice(id, inner, { concurrency: 11 }),
  'while-batch': (id, inner) => passes(id, inner, {}),
  'while-map': (id, inner) => passes(id, inner, { mode: 'map' }),
  parallel: (id, inner) => ({
    step: {
      id,
      type: 'parallel',
      branches: [[value(`${id}-first`, 'f'), inner.step], value(`${id}-side`, 'side')],
    },
    value: [inner.value, 'side'],
  }),
  pipe: (id, inner) => ({
    step: { id, type: 'pipe', steps: [inner.step, value(`${id}-end`, '{{ [input] }}')] },
    value: [inner.value],
  }),
  collect: (id, inner) => ({
    step: { id, type: 'collect', steps: [inner.step], select: `{{ {of: output.${String(inner.step.id)}} }}` },
    value: { of: inner.value },
  }),
};

const KINDS = Object.keys(WRAPS);

function nest(kinds: readonly string[], id: string): Wrapped {
  const leaf: Wrapped = { step: value(`${id}-leaf`, { v: 7 }, { select: '{{ output.v }}' }), value: 7 };
  return kinds.reduceRight<Wrapped>((inner, kind, depth) => {
    const wrap = WRAPS[kind];
    if (wrap === undefined) throw new Error(kind);
    return wrap(`${id}-${depth}`, inner);
  }, leaf);
}

/**
 * Half of all that are three deep, chosen so that every kind stands directly in every kind: each is in the middle of four,
 * inside those at an even distance from it and around those at an odd one.
 */
const triples = KINDS.map((middle, i) => ({
  middle,
  nestings: [0, 2, 4, 6].map((distance) => [kindAt(i + distance), middle, kindAt(i + distance + 1)]),
}));

function kindAt(place: number): string {
  return KINDS[place % KINDS.length] ?? '';
}

it('every kind stands in every kind', () => {
  const pairs = triples.flatMap(({ nestings }) =>
    nestings.flatMap(([a, b, c]) => [`${a} ${b}`, `${b} ${c}`]),
  );
  expect(new Set(pairs).size).toBe(KINDS.length ** 2);
});

it.concurrent.each(triples)('$middle inside four kinds, around four others', async ({ nestings }) => {
  const nested = nestings.map((kinds, i) => nest(kinds, `s${i}`));
  const steps = nested.map(({ step }) => step);
  const run = await lab.run({ steps, output: steps.map(({ id }) => `{{ steps.${String(id)} }}`) });
  expect(run).toMatchObject({ status: 'SUCCEEDED', errors: [] });
  expect((run.output as Json[]).map((output, i) => [nestings[i], output])).toEqual(
    nested.map((each, i) => [nestings[i], each.value]),
  );
});
