/** Allow-lists: what an entry allows, and what is no entry. */
import { describe, expect, test } from 'vitest';
import {
  allowEntryFault,
  allowsServer,
  allowsTool,
  refusedTools,
} from '../../lib/blueprint/tool-allow-list.ts';

const LISTS: [string[] | undefined, string, string, boolean][] = [
  [undefined, 'k8s', 'list_pods', true],
  [[], 'k8s', 'list_pods', false],
  [['k8s/list_pods'], 'k8s', 'list_pods', true],
  [['k8s/list_pods'], 'k8s', 'list_pods2', false],
  [['k8s/list_pods'], 'k8s2', 'list_pods', false],
  [['k8s/*'], 'k8s', 'delete_pod', true],
  [['k8s/*'], 'k8s-prod', 'delete_pod', false],
  [['k8s/*'], 'graph', 'k8s/delete_pod', false],
  [['graph/a/b'], 'graph', 'a/b', true],
  [['*'], 'k8s', 'list_pods', false],
  [['k8s/list_*'], 'k8s', 'list_pods', false],
  [['constructor/*'], 'k8s', 'list_pods', false],
];

test.each(LISTS)('%j: %s/%s is %j', (list, server, tool, allowed) => {
  expect(allowsTool(list, { server, tool })).toBe(allowed);
});

test('all refused tools are named, each once', () => {
  const tools = ['a', 'b', 'a', 'c'].map((tool) => ({ server: 'k8s', tool }));
  expect(refusedTools(['k8s/b'], tools)).toEqual(['k8s/a', 'k8s/c']);
  expect(refusedTools(undefined, tools)).toEqual([]);
});

test('a server is told of where an entry names it', () => {
  expect(allowsServer(['k8s/list_pods'], 'k8s')).toBe(true);
  expect(allowsServer(['k8s/list_pods'], 'k8')).toBe(false);
  expect(allowsServer(undefined, 'k8s')).toBe(true);
});

describe('entries', () => {
  test.each(['k8s/list_pods', 'k8s/*', 'graph/a/b'])('%s is one', (entry) => {
    expect(allowEntryFault(entry)).toBeUndefined();
  });
  test.each(['', 'k8s', '/x', '*/*', '*', 'K8S/x', 'k8s/', 'k8s/list_*', 'k8s/a b'])(
    '%j is none',
    (entry) => {
      expect(allowEntryFault(entry)).toContain(JSON.stringify(entry));
    },
  );
});
