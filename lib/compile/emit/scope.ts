/**
 * Where states are written to, and what every state of the machine shares. A scope is one `States` object: the machine's
 * own, a branch's, an iteration's. States are written in the order of the blueprint, so the definition reads like it.
 */
import { MAX_STATE_NAME } from '../../asl/limits.ts';
import type { State } from '../../asl/types.ts';
import type { FailureTarget } from '../plan/failures.ts';
import type { Plan, PlannedStep } from '../plan/plan.ts';

export interface Scope {
  plan: Plan;
  states: Record<string, State>;
  /** Every name of the machine so far: names are unique across scopes. */
  names: Set<string>;
  /** Writes the steps inside a step; the last leads to `next`. Here, so that step types need not know each other. */
  emitList(scope: Scope, steps: readonly PlannedStep[], next: string): void;
}

/** The machine's own scope. */
export function openScope(plan: Plan, emitList: Scope['emitList']): Scope {
  return { plan, states: {}, names: new Set(), emitList };
}

/** A scope inside another: the states are its own, the names are not. */
export function innerScope(scope: Scope): Scope {
  return { ...scope, states: {} };
}

/** @throws Error where a name is taken or too long, which ids of a valid blueprint cannot bring about. */
export function addState(scope: Scope, name: string, state: State): void {
  if (scope.names.has(name)) throw new Error(`two states are named "${name}"`);
  if (name.length > MAX_STATE_NAME)
    throw new Error(`the state name "${name}" is longer than ${MAX_STATE_NAME}`);
  scope.names.add(name);
  scope.states[name] = state;
}

/** The state that a caught failure leads to, or nothing where it ends the run. */
export function failureState(target: FailureTarget, next: string): string | undefined {
  switch (target.to) {
    case 'end-run':
      return undefined;
    case 'next':
      return next;
    case 'state':
      return target.name;
  }
}
