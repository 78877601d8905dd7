/**
 * A pass over the states of an iteration or a branch: a task that leads to the constant's Pass ends there itself, which
 * saves a transition an item. The Pass stays where a Choice or a caught failure leads to it.
 *
 *     "describe": { "Type": "Task", …, "Output": "{% {'task': $states.input.task} %}", "Next": "pods end" }
 *   → "describe": { "Type": "Task", …, "Output": 0, "End": true }
 */
import type { State } from '../../asl/types.ts';
import type { Scope } from './scope.ts';

/** Rewrites the scope's own states; `end` is the name of its Pass. */
export function endEarly(scope: Scope, end: string): void {
  for (const [name, state] of Object.entries(scope.states)) {
    if (state.Type !== 'Task' || state.Next !== end) continue;
    const { Next: _, ...rest } = state;
    scope.states[name] = { ...rest, Output: 0, End: true };
  }
  if (
    !Object.values(scope.states).some((state) => leadsTo(state, end)) &&
    Object.keys(scope.states).length > 1
  ) {
    delete scope.states[end];
    scope.names.delete(end);
  }
}

function leadsTo(state: State, name: string): boolean {
  if (state.Next === name) return true;
  if (state.Type === 'Choice') {
    return state.Default === name || state.Choices.some((choice) => choice.Next === name);
  }
  return (
    'Catch' in state && state.Catch !== undefined && state.Catch.some((catcher) => catcher.Next === name)
  );
}
