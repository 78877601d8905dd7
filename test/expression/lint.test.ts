import { describe, expect, test } from 'vitest';
import { parseExpression } from '../../lib/expression/expression.ts';
import { lintExpression } from '../../lib/expression/lint.ts';
import type { LintEnvironment } from '../../lib/expression/lint-findings.ts';

const environment: LintEnvironment = {
  roots: new Set(['params', 'steps', 'results', 'run', 'pod', 'index']),
  mayBeNull: ([root, name]) => root !== 'params' && name !== 'loop',
};

/** `code@offset: hint`. */
function lint(source: string): string[] {
  return lintExpression(parseExpression(source), environment).map(
    (each) => `${each.code}@${each.offset}: ${each.hint}`,
  );
}

describe('a hint that offers an expression offers one that lints clean', () => {
  test.each([
    ['steps.a.items[?s == "Running"]', ["quoted-string@20: write 'Running'"]],
    ['steps.a.items[?"Running" == s]', ["quoted-string@15: write 'Running'"]],
    ['steps.a || "none"', ["quoted-string@11: write 'none'"]],
    ['steps.a[?contains(name, "x")]', ["quoted-string@24: write 'x'"]],
    ['steps.a[?starts_with(name, "it\'s")]', ["quoted-string@27: write 'it\\'s'"]],
    ['steps.a[?ready == true].x', ['bare-literal@18: write `true`']],
    ['{ok: false}', ['bare-literal@5: write `false`']],
    ['steps.a != null', ['bare-literal@11: write `null`']],
    ['!steps.a.b', ['not-binds-tighter@0: write !(steps.a.b)']],
    ['steps.a[?!ready.now].x', ['not-binds-tighter@9: write !(ready.now)']],
    ['!params.x[?y]', ['not-binds-tighter@0: write !(params.x[?y])']],
    ["steps.a.items[?x=='y'][0].name", ["index-in-projection@22: write steps.a.items[?x == 'y'] | [0].name"]],
    ['steps.a[][0]', ['index-in-projection@9: write steps.a[] | [0]']],
    ["steps.a[?x=='y'][-1] || 'none'", ["index-in-projection@16: write (steps.a[?x == 'y'] | [-1])"]],
    [
      'steps.a.items[?ns == params.ns].name',
      ['root-without-dollar@21: write $.params.ns; if the field is meant, write @.params'],
    ],
    [
      'steps.a[*].{n: name, p: pod.name}',
      ['root-without-dollar@24: write $.pod.name; if the field is meant, write @.pod'],
    ],
    [
      'steps.a | {x: params.y}',
      ['root-without-dollar@14: write $.params.y; if the field is meant, write @.params'],
    ],
    [
      'sort_by(steps.a, &index)',
      ['root-without-dollar@18: write $.index; if the field is meant, write @.index'],
    ],
    ["join(', ', steps.a.names)", ["null-argument@11: write join(', ', steps.a.names || `[]`)"]],
    ['length(steps.a.items[?x])', ['null-argument@7: write length(steps.a.items[?x] || `[]`)']],
    ['steps.a[?length(tags) > `2`]', ['null-argument@16: write length(tags || `[]`)']],
    ['length(steps.a || steps.b)', ['null-argument@7: write length(steps.a || steps.b || `[]`)']],
    [
      "join(',', [steps.a, params.b])",
      [
        "null-argument@10: write join(',', [steps.a, params.b][]), which leaves nulls out, or give each a default",
      ],
    ],
    [
      "join(',', map(&name, steps.loop))",
      ['null-argument@10: a projection leaves them out: list[].field in the place of map(&name, steps.loop)'],
    ],
    [
      'length(steps.loop[?@ == null])',
      [
        'null-items-dropped@17: count nulls with length(steps.loop[?@ == `null`].type(@)); of a loop, results.LOOP.failed and results.LOOP.skipped have the numbers',
      ],
    ],
    [
      'steps.loop[?`null` == @]',
      [
        'null-items-dropped@10: count nulls with length(steps.loop[?@ == `null`].type(@)); of a loop, results.LOOP.failed and results.LOOP.skipped have the numbers',
      ],
    ],
    ['len(steps.a)', ['unknown-function@0: did you mean length(value)?']],
    ['startsWith(steps.a, `"x"`)', ['unknown-function@0: did you mean starts_with(text, start)?']],
    ['filter(steps.a)', ['unknown-function@0: a filter is written list[?condition]']],
    ['constructor(steps.a)', [expect.stringMatching(/^unknown-function@0: the functions are abs, avg/)]],
    ['join(steps.a)', ["wrong-arity@0: write join(', ', strings)"]],
    ['not_null()', ['wrong-arity@0: write not_null(value, other)']],
    ["join(steps.a, ', ')", ["wrong-argument@14: write join(', ', strings)"]],
    ['sort_by(steps.a, name)', ['wrong-argument@17: write &name there: sort_by(list, &expression)']],
    ["sort_by(steps.a, 'name')", ['wrong-argument@17: write &name there: sort_by(list, &expression)']],
    [
      'map(steps.a, &name)',
      [
        'wrong-argument@4: write &steps.a there: map(&expression, list)',
        'wrong-argument@13: write map(&expression, list)',
      ],
    ],
    ['starts_with(steps.a, `1`)', ['wrong-argument@21: write starts_with(text, start)']],
    ['keys([steps.a])', ['wrong-argument@5: write keys(object)']],
  ])('%s', (source, findings) => {
    expect(lint(source)).toEqual(findings);
    for (const finding of findings) {
      const offered = /: write (.*)$/.exec(String(finding))?.[1];
      if (offered === undefined || /wrong-|unknown-/.test(String(finding))) continue;
      const rewritten = offered.replace(/(; if the field| which leaves).*$/, '').replace(/,$/, '');
      expect(lint(rewritten), rewritten).toEqual([]);
    }
  });
});

describe('what is right is left alone', () => {
  test.each([
    'steps.a.items[?"app.kubernetes.io/name" == \'x\']',
    "steps.a.items[?s == 'Running' && ready == `true`]",
    'steps.a[?!ready].x',
    '!(steps.a.b)',
    'steps.a[?!(ready.now)]',
    "steps.a[?x=='y'] | [0]",
    'steps.a[*].tags[0]',
    'steps.a[0].b[0]',
    'steps.a[?ns == $.params.ns].{n: name, p: $.pod.name}',
    'steps.a[].params',
    'steps.a[?@.params == `1`]',
    'length(steps.a || `[]`)',
    'length(steps.loop)',
    'length(params.names)',
    'length(not_null(steps.a, `[]`))',
    'length(keys(params))',
    'length(to_string(steps.a))',
    'steps.loop[?length(@) > `2`]',
    "join(', ', steps.loop[].name)",
    "join(', ', [params.a, to_string(steps.b)])",
    'length(steps.loop[?@ == `null`].type(@))',
    'steps.a[?x == null]',
    'steps.loop[?@ != `null`]',
    'sort_by(steps.a, &name)[].name',
    'max_by(steps.a, &n).name',
  ])('%s', (source) => {
    expect(lint(source)).toEqual([]);
  });
});

test('the severity of what must fail is error, of the rest warning', () => {
  const findings = lintExpression(
    parseExpression('[nope(@), length(), abs(`"x"`), steps.a[?b == true]]'),
    environment,
  );
  expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
    ['unknown-function', 'error'],
    ['wrong-arity', 'error'],
    ['wrong-argument', 'error'],
    ['bare-literal', 'warning'],
  ]);
});

test('without knowledge every path can be null', () => {
  expect(lintExpression(parseExpression('length(params.a)'), { roots: new Set(['params']) })).toHaveLength(1);
});
