import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { parseTemplate } from '../../lib/expression/template.ts';
import { hasUnknown, resolvePartly, UNKNOWN } from '../../lib/steps/dry-run/partial.ts';

const scope: JsonObject = {
  params: { ns: 'prod', list: [1, 2] },
  steps: { known: { items: [{ n: 1 }] }, made: UNKNOWN, both: { a: 'x', b: UNKNOWN }, many: ['y', UNKNOWN] },
  input: UNKNOWN,
  item: { name: 'first' },
};

describe('a template over a scope with gaps', () => {
  it.each<[Json, Json, string[]]>([
    ['plain', 'plain', []],
    ['{{ params.ns }}', 'prod', []],
    ['{{ steps.made }}', '{{ steps.made }}', ['steps.made']],
    ['{{steps.made.id}}', '{{ steps.made.id }}', ['steps.made.id']],
    ['{{ steps.made.id || `1` }}', '{{ steps.made.id || `1` }}', ['steps.made.id || `1`']],
    ['a {{ params.ns }} b {{ input }} c {{ item }}', 'a prod b {{ input }} c {"name":"first"}', ['input']],
    ['{{ steps.both.a }}', 'x', []],
    ['{{ steps.both }}', '{{ steps.both }}', ['steps.both']],
    ['{{ steps.both.b.c }}', '{{ steps.both.b.c }}', ['steps.both.b.c']],
    ['{{ length(steps.many) }}', '{{ length(steps.many) }}', ['length(steps.many)']],
    ['{{ steps.known.items[?n == $.params.list[0]] }}', [{ n: 1 }], []],
    [
      '{{ steps.known.items[?n == $.steps.made] }}',
      '{{ steps.known.items[?n == $.steps.made] }}',
      ['steps.known.items[?n == $.steps.made]'],
    ],
    ['{{ $ }}', '{{ $ }}', ['$']],
    [
      { a: ['{{ params.ns }}', '{{ input }}'], b: { c: '{{ input }}', d: 1 } },
      { a: ['prod', '{{ input }}'], b: { c: '{{ input }}', d: 1 } },
      ['input'],
    ],
    [['\\{{ not }}', '{{ input }}'], ['{{ not }}', '{{ input }}'], ['input']],
  ])('%j', (written, shown, unresolved) => {
    const { template, problems } = parseTemplate(written);
    expect(problems).toEqual([]);
    const resolved = resolvePartly(template, scope, 'step', 'params.x');
    expect(resolved.shown).toEqual(shown);
    expect(resolved.unresolved).toEqual(unresolved);
    expect(hasUnknown(resolved.value)).toBe(unresolved.length > 0);
  });

  it('keeps a key that is no prototype', () => {
    const { template } = parseTemplate(
      JSON.parse('{"__proto__":"{{ input }}","x":"{{ params.ns }}"}') as Json,
    );
    const { value, shown } = resolvePartly(template, scope, 'step', 'params');
    expect(JSON.stringify(shown)).toBe('{"__proto__":"{{ input }}","x":"prod"}');
    expect(Object.keys(value as object)).toEqual(['__proto__', 'x']);
  });

  it('fails where all that it reads is known and it cannot be evaluated', () => {
    const { template } = parseTemplate(['{{ input }}', 'x {{ params.nothing }}']);
    expect(() => resolvePartly(template, scope, 'step', 'params.x')).toThrow(/step "step", params.x.*null/);
  });
});
