import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, documentHash } from '../../lib/blueprint/canonical.ts';
import type { Json } from '../../lib/blueprint/json.ts';
import type { BlueprintDocument } from '../../lib/blueprint/types.ts';

const document: BlueprintDocument = {
  abi: 1,
  blueprint: { id: 'a', steps: [{ id: 's', type: 'call', tool: 't', params: { b: 1, a: 'é' } }] },
  tools: { s: { server: 'k8s', tool: 't' } },
  workflows: {},
};

test.each<[Json, string]>([
  [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
  [{ '\u20ac': 1, '\r': 2, '1': 3, '': 4 }, '{"":4,"\\r":2,"1":3,"\u20ac":1}'],
  [-0, '0'],
  [1e21, '1e+21'],
  [JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
])('the canonical text of %j', (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test('the order of keys does not change the text, and the text parses back to the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.parse(JSON.stringify(value)) as Json;
      const text = canonicalJson(json);
      expect(JSON.parse(text)).toEqual(json);
      expect(canonicalJson(reversed(json))).toBe(text);
    }),
  );
});

test('the hash covers what was resolved at saving', () => {
  const hash = documentHash(document);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(documentHash(structuredClone(document))).toBe(hash);
  expect(documentHash({ ...document, tools: { s: { server: 'other', tool: 't' } } })).not.toBe(hash);
});

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
