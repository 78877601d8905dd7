import { expect, test } from 'vitest';
import { explainNull } from '../../lib/expression/explain.ts';
import { parseExpression } from '../../lib/expression/expression.ts';

const scope = {
  params: { ns: null },
  steps: {
    pods: { items: [1], count: 1 },
    text: 'x',
    none: null,
    empty: {},
    'odd-one': { ['a\u202eb\n"c'.padEnd(60, 'x')]: 1 },
    many: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index])),
  },
};

test.each<[string, string | undefined]>([
  ['steps.pods.item', 'steps.pods has no field "item"; its fields are "items", "count"'],
  [
    'steps.pods.items.name',
    'steps.pods.items is an array of 1 and has no field "name"; its elements are read with [0] or []',
  ],
  ['steps.text.a', 'steps.text is a string and has no field "a"'],
  ['steps.none.a', 'steps.none is null'],
  ['$.params.ns', 'params.ns is null'],
  ['steps.empty.a', 'steps.empty is an object without fields, so it has no "a"'],
  [
    'steps.odd-one.a',
    'steps.odd-one has no field "a"; its fields are "ab"cxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."',
  ],
  [
    'steps.many.a[?x]',
    'steps.many has no field "a"; its fields are "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "k10", "k11" and 8 more',
  ],
  ['steps.pods.constructor', 'steps.pods has no field "constructor"; its fields are "items", "count"'],
  ['nope.x', 'the scope has no field "nope"; its fields are "params", "steps"'],
  ['steps.pods.items[5]', undefined],
])('%s', (source, text) => {
  expect(explainNull(parseExpression(source), scope)).toBe(text);
});
