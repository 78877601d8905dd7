import { expect, test } from 'vitest';
import { listNames, nearestName } from '../../lib/blueprint/suggest.ts';

test.each<[string, string[], string | undefined]>([
  ['list-ns', ['nodes', 'list-nss'], 'list-nss'],
  ['list-ns', ['namespaces', 'nodes'], 'namespaces'],
  ['namespcaes', ['namespaces', 'nodes'], 'namespaces'],
  ['Namespaces', ['namespaces'], 'namespaces'],
  ['concurency', ['concurrency', 'currency'], 'concurrency'],
  ['starts_wth', ['starts_with', 'ends_with'], 'starts_with'],
  ['pods', ['list-pods', 'nodes'], 'list-pods'],
  ['get-pods-by-name', ['pods', 'get-pods'], 'get-pods'],
  ['Running', ['run'], undefined],
  ['b', ['a', 'B'], 'B'],
  ['state', ['status', 'error'], 'status'],
  ['x', ['steps', 'params'], undefined],
  ['frobnicate', ['steps', 'params', 'results'], undefined],
  ['', ['a'], undefined],
])('nearest to %j in %j is %j', (name, candidates, nearest) => {
  expect(nearestName(name, candidates)).toBe(nearest);
});

test('a long list is cut with a count, an empty one said', () => {
  expect(listNames(['a', 'b', 'c'], 2)).toBe('"a", "b" and 1 more');
  expect(listNames([])).toBe('none');
});

test('a name of any length costs little', () => {
  const started = performance.now();
  nearestName('x'.repeat(1_000_000), ['y'.repeat(1_000_000), 'x']);
  expect(performance.now() - started).toBeLessThan(500);
});
