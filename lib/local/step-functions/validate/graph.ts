/**
 * One list of states as a graph: every target exists in the same list, some state ends it, every state can be reached.
 *
 * As measured on the service: all targets are reported as `Next`, whatever the field; a list without an end is reported
 * without a location and hides unreachable states.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../blueprint/json.ts';
import type { Report } from './diagnostic.ts';

interface Edge {
  target: string;
  location: string;
}

export function checkGraph(owner: JsonObject, states: JsonObject, location: string, report: Report): void {
  const edges = new Map<string, Edge[]>();
  for (const [name, state] of Object.entries(states)) {
    edges.set(name, isJsonObject(state) ? edgesOf(state, `${location}/States/${name}`) : []);
  }
  const start = typeof owner.StartAt === 'string' ? owner.StartAt : undefined;
  if (start !== undefined && !Object.hasOwn(states, start)) missing(start, `${location}/StartAt`);
  for (const edge of [...edges.values()].flat()) {
    if (!Object.hasOwn(states, edge.target)) missing(edge.target, edge.location);
  }
  if (!Object.values(states).some(isTerminal)) {
    report.add('MISSING_END_STATE', 'Workflow has no terminal state');
    return;
  }
  if (start === undefined) return;
  const reached = new Set([start]);
  for (const name of reached) for (const edge of edges.get(name) ?? []) reached.add(edge.target);
  for (const name of Object.keys(states)) {
    if (reached.has(name)) continue;
    report.add(
      'MISSING_TRANSITION_TARGET',
      `State "${name}" is not reachable.`,
      `${location}/States/${name}`,
    );
  }

  function missing(target: string, place: string): void {
    report.add('MISSING_TRANSITION_TARGET', `Missing 'Next' target: ${target}`, place);
  }
}

function isTerminal(state: Json | undefined): boolean {
  return isJsonObject(state) && (state.End === true || state.Type === 'Succeed' || state.Type === 'Fail');
}

function edgesOf(state: JsonObject, location: string): Edge[] {
  const edges: Edge[] = [];
  const add = (target: Json | undefined, place: string) => {
    if (typeof target === 'string') edges.push({ target, location: place });
  };
  add(state.Next, `${location}/Next`);
  for (const field of ['Choices', 'Catch']) {
    const list = state[field];
    if (!Array.isArray(list)) continue;
    for (const [index, entry] of list.entries()) {
      if (isJsonObject(entry)) add(entry.Next, `${location}/${field}[${index}]/Next`);
    }
  }
  add(state.Default, `${location}/Default`);
  return edges;
}
