/**
 * What is wrong with a compiled machine, whatever it was compiled from: the guards that every machine of ours passes.
 * Rules of the Amazon States Language, Step Functions' limits, and the compiler's own promises.
 */
import jsonata from 'jsonata';
import { MAX_DEFINITION_BYTES, MAX_INLINE_CONCURRENCY, MAX_STATE_NAME } from '../../lib/asl/limits.ts';
import type { State, StateMachine } from '../../lib/asl/types.ts';

interface States {
  StartAt: string;
  States: Record<string, State>;
}

/** Faults as sentences; none for a machine that may be used. */
export function machineFaults(machine: StateMachine): string[] {
  const names = new Map<string, number>();
  const faults = scopeFaults(machine, 'machine', names);
  for (const [name, count] of names) {
    if (count > 1) faults.push(`"${name}" names ${count} states`);
    if (name.length > MAX_STATE_NAME) faults.push(`"${name}" is longer than ${MAX_STATE_NAME}`);
  }
  if (machine.QueryLanguage !== 'JSONata') faults.push('the machine is not in JSONata');
  const bytes = Buffer.byteLength(JSON.stringify(machine));
  if (bytes > MAX_DEFINITION_BYTES) faults.push(`the definition has ${bytes} bytes`);
  return [...faults, ...valueFaults(machine, 'machine')];
}

function scopeFaults(scope: States, where: string, names: Map<string, number>): string[] {
  const faults: string[] = [];
  const states = Object.entries(scope.States);
  if (scope.States[scope.StartAt] === undefined)
    faults.push(`${where} starts at no state: "${scope.StartAt}"`);
  const reached = reachable(scope);
  for (const [name, state] of states) {
    names.set(name, (names.get(name) ?? 0) + 1);
    if (!reached.has(name)) faults.push(`"${name}" is not reachable`);
    for (const next of nextOf(state)) {
      if (scope.States[next] === undefined) faults.push(`"${name}" leads to no state: "${next}"`);
    }
    faults.push(...stateFaults(name, state, names));
  }
  if (!states.some(([, state]) => state.End === true || state.Type === 'Succeed')) {
    faults.push(`${where} has no end`);
  }
  for (const [name] of states) {
    if (!endsSomewhere(scope, name)) faults.push(`from "${name}" no end is reachable`);
  }
  return faults;
}

function stateFaults(name: string, state: State, names: Map<string, number>): string[] {
  const faults: string[] = [];
  const transitions = [state.Next !== undefined, state.End === true].filter(Boolean).length;
  const terminal = state.Type === 'Choice' || state.Type === 'Succeed' || state.Type === 'Fail';
  if (transitions !== (terminal ? 0 : 1)) faults.push(`"${name}" has ${transitions} of Next and End`);
  for (const catcher of 'Catch' in state ? (state.Catch ?? []) : []) {
    const all = catcher.ErrorEquals.includes('States.ALL');
    if (
      all &&
      (catcher.ErrorEquals.length > 1 || catcher !== ('Catch' in state ? state.Catch?.at(-1) : undefined))
    ) {
      faults.push(`"${name}" has States.ALL not alone or not last`);
    }
  }
  if (state.Type === 'Parallel') {
    for (const [i, branch] of state.Branches.entries()) {
      faults.push(...scopeFaults(branch, `branch ${i} of "${name}"`, names));
    }
  }
  if (state.Type === 'Map') {
    const { ProcessorConfig: config } = state.ItemProcessor;
    if (config?.Mode === 'INLINE' && Number(state.MaxConcurrency) > MAX_INLINE_CONCURRENCY) {
      faults.push(`"${name}" is inline and has a concurrency of ${state.MaxConcurrency}`);
    }
    faults.push(...scopeFaults(state.ItemProcessor, `iteration of "${name}"`, names));
  }
  return faults;
}

/** States that a state leads to. */
function nextOf(state: State): string[] {
  const next = state.Next === undefined ? [] : [state.Next];
  if (state.Type === 'Choice') {
    next.push(...state.Choices.map((choice) => choice.Next));
    if (state.Default !== undefined) next.push(state.Default);
  }
  if ('Catch' in state) next.push(...(state.Catch ?? []).map((catcher) => catcher.Next));
  return next;
}

function reachable({ StartAt, States }: States, from = StartAt): Set<string> {
  const reached = new Set<string>();
  const waiting = [from];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const state = States[name];
    if (state === undefined || reached.has(name)) continue;
    reached.add(name);
    waiting.push(...nextOf(state));
  }
  return reached;
}

function endsSomewhere(scope: States, from: string): boolean {
  return [...reachable(scope, from)].some((name) => {
    const state = scope.States[name];
    return state?.End === true || state?.Type === 'Succeed';
  });
}

/** Values that JSON would drop or that are no JSONata. */
function valueFaults(value: unknown, where: string): string[] {
  if (value === undefined) return [`${where} is undefined`];
  if (typeof value === 'number' && !Number.isFinite(value)) return [`${where} is ${value}`];
  if (typeof value === 'string') return jsonataFaults(value, where);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'Comment' ? [] : valueFaults(inner, `${where}/${key}`),
  );
}

/** Expressions that were parsed before: machines repeat them. */
const parsed = new Set<string>();

function jsonataFaults(text: string, where: string): string[] {
  if (!text.startsWith('{%') && !text.endsWith('%}')) return [];
  if (!text.startsWith('{% ') || !text.endsWith(' %}'))
    return [`${where} is half a JSONata expression: ${text}`];
  if (parsed.has(text)) return [];
  try {
    jsonata(text.slice(2, -2));
    parsed.add(text);
    return [];
  } catch (error) {
    return [`${where} is no JSONata: ${error instanceof Error ? error.message : JSON.stringify(error)}`];
  }
}
