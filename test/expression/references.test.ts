import { expect, test } from 'vitest';
import { parseExpression } from '../../lib/expression/expression.ts';
import { references, stepReads } from '../../lib/expression/references.ts';

/** `root.path@offset`, with `$.` in front where it was written. */
function readsOf(source: string): string[] {
  return references(parseExpression(source)).map(
    ({ root, path, offset, viaRoot }) => `${viaRoot ? '$.' : ''}${[root, ...path].join('.')}@${offset}`,
  );
}

test.each<[string, string[]]>([
  ['params.ns', ['params.ns@0']],
  ['$.params.ns', ['$.params.ns@2']],
  ['@.params.ns', ['params.ns@2']],
  ['"params".ns', ['params.ns@0']],
  [
    'steps.list-pods.items[?ns == $.params.ns].{a: name, b: params.x}',
    ['steps.list-pods.items@0', '$.params.ns@31'],
  ],
  ['steps.a[0].b', ['steps.a@0']],
  ['steps.a.0.b', ['steps.a@0']],
  ['steps | pods.items', ['steps.pods.items@0']],
  ['steps.a | length(@)', ['steps.a@0']],
  ["steps.a | 'x'", ['steps.a@0']],
  ['steps.{a: x, b: y.z}', ['steps.x@0', 'steps.y.z@0']],
  ['$.{a: steps.x, b: params}', ['$.steps.x@6', '$.params@18']],
  ['[steps.a, params.b]', ['steps.a@1', 'params.b@10']],
  ['steps.a || params.b', ['steps.a@0', 'params.b@11']],
  ['!steps.a', ['steps@1']],
  ['!(steps.a)', ['steps.a@2']],
  ['(steps.a).b', ['steps.a.b@1']],
  ['steps.a == params.b && index', ['steps.a@0', 'params.b@11', 'index@23']],
  ['sort_by(steps.a, &steps.b)', ['steps.a@8']],
  ['map(&$.params.x, steps.a)', ['$.params.x@7', 'steps.a@17']],
  ['steps.a[].b[].c', ['steps.a@0']],
  ['steps.a[?b][?c == $.run.id]', ['steps.a@0', '$.run.id@20']],
  ['steps', ['steps@0']],
  ['keys(steps)', ['steps@5']],
  ['steps.*.x', ['steps@0']],
  ['$', ['$.$@0']],
  ['@', ['$@0']],
  ['*', ['$@0']],
  ['to_string($)', ['$.$@10']],
  ['$ | steps.a', ['$.steps.a@4']],
  ["'x'", []],
  ['`{"steps": 1}`.steps', []],
])('%s reads %j', (source, reads) => {
  expect(readsOf(source)).toEqual(reads);
});

test.each([
  ['steps.a.b', [{ root: 'steps', id: 'a', offset: 0 }]],
  ['results."b-c".status', [{ root: 'results', id: 'b-c', offset: 0 }]],
  ['steps[0]', [{ root: 'steps', id: null, offset: 0 }]],
  ['values(results)', [{ root: 'results', id: null, offset: 7 }]],
  ['to_string(@)', [{ root: 'steps', id: null, offset: 10 }]],
  ['params.steps', []],
])('the steps that %s reads', (source, reads) => {
  expect(stepReads(parseExpression(source))).toEqual(reads);
});
