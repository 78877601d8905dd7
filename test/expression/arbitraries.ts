/** Random expressions that can be read, and scopes for them. */
import fc from 'fast-check';
import type { JsonObject } from '../../lib/blueprint/json.ts';

const name = fc.constantFrom('a', 'b', 'c', 'list', 'n', '"b"', 'list-x', 'constructor', '__proto__');
const literal = fc.constantFrom(
  "'a'",
  "'it\\'s'",
  '`1`',
  '`null`',
  '`true`',
  '`[1, [2], null]`',
  '`{"a": "b"}`',
  '`"\\`"`',
  '@',
  '$',
);
const comparator = fc.constantFrom('==', '!=', '<', '<=', '>', '>=');
const bracket = fc.constantFrom('[0]', '[-1]', '[*]', '[]', '[1:]', '[::-1]', '[:2]', '.0', '.*');

const { expression } = fc.letrec<{ expression: string; path: string; step: string; call: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'expression' },
    { weight: 4, arbitrary: tie('path') },
    fc.tuple(tie('path'), comparator, tie('path')).map((parts) => parts.join(' ')),
    fc
      .tuple(tie('expression'), fc.constantFrom('||', '&&', '|'), tie('expression'))
      .map((parts) => parts.join(' ')),
    tie('expression').map((inner) => `(${inner})`),
  ),
  path: fc
    .tuple(
      fc.oneof(name, name, literal, tie('call'), fc.constantFrom('*', '[]', '[*]', '!a', '!list[*]')),
      fc.array(tie('step'), { maxLength: 3, depthIdentifier: 'expression' }),
    )
    .map(([start, steps]) => start + steps.join('')),
  step: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'expression' },
    name.map((each) => `.${each}`),
    bracket,
    tie('expression').map((condition) => `[?${condition}]`),
    tie('call').map((call) => `.${call}`),
    fc.tuple(tie('expression'), tie('expression')).map((items) => `.[${items.join(', ')}]`),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `.{a: ${a}, "__proto__": ${b}}`),
  ),
  call: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'expression' },
    fc.constantFrom('type(@)', 'length(@)'),
    fc
      .tuple(
        fc.constantFrom(
          'length',
          'keys',
          'values',
          'sort',
          'to_string',
          'to_array',
          'to_number',
          'max',
          'sum',
          'reverse',
          'not_null',
          'type',
          'abs',
          'avg',
        ),
        tie('expression'),
      )
      .map(([f, x]) => `${f}(${x})`),
    fc
      .tuple(
        fc.constantFrom('contains', 'join', 'merge', 'starts_with'),
        tie('expression'),
        tie('expression'),
      )
      .map(([f, x, y]) => `${f}(${x}, ${y})`),
    fc
      .tuple(fc.constantFrom('sort_by', 'max_by', 'min_by'), tie('expression'), tie('expression'))
      .map(([f, x, y]) => `${f}(${x}, &${y})`),
    fc.tuple(tie('expression'), tie('expression')).map(([x, y]) => `map(&${x}, ${y})`),
  ),
}));

/** Sources of valid expressions, well below the limits. */
export const expressionSource = expression.filter((source) => source.length < 400);

const leaf = fc.constantFrom(null, true, 0, 1, 2.5, '', 'a', 'b', '10', '{{ a }}');
const element = fc.oneof(
  leaf,
  fc.dictionary(fc.constantFrom('a', 'b', 'n', '__proto__'), leaf, { maxKeys: 3 }),
  fc.array(leaf, { maxLength: 3 }),
);

export const scopeData = fc.record({
  a: element,
  b: fc.oneof(element, fc.dictionary(fc.constantFrom('a', 'b', 'c'), element, { maxKeys: 3 })),
  c: leaf,
  n: fc.constantFrom(1, 2, 3),
  list: fc.array(element, { maxLength: 4 }),
  'list-x': fc.array(fc.record({ a: leaf, n: fc.integer({ min: 0, max: 3 }) }), { maxLength: 4 }),
}) as fc.Arbitrary<JsonObject>;
