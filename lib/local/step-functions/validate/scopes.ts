/**
 * The lists of states of a machine: its own, and those of branches and item processors, outer before inner.
 * Tolerates any shape: what is no list of states is left out, to be reported by the schema rules.
 */
import { isJsonObject, type JsonObject } from '../../../blueprint/json.ts';

export interface Scope {
  owner: JsonObject;
  states: JsonObject;
  /** Of the owner: `''` for the machine, `/States/P/Branches[0]`. */
  location: string;
}

export function* nestedScopes(machine: JsonObject): Iterable<Scope> {
  const queue: { owner: JsonObject; location: string }[] = [{ owner: machine, location: '' }];
  for (const { owner, location } of queue) {
    if (!isJsonObject(owner.States)) continue;
    yield { owner, states: owner.States, location };
    for (const [name, state] of Object.entries(owner.States)) {
      if (!isJsonObject(state)) continue;
      for (const inner of innerOwners(state)) {
        queue.push({ owner: inner.owner, location: `${location}/States/${name}/${inner.field}` });
      }
    }
  }
}

/** The branches or the item processor of a state. */
export function innerOwners(state: JsonObject): { owner: JsonObject; field: string }[] {
  const inner: { owner: JsonObject; field: string }[] = [];
  if (state.Type === 'Parallel' && Array.isArray(state.Branches)) {
    for (const [index, branch] of state.Branches.entries()) {
      if (isJsonObject(branch)) inner.push({ owner: branch, field: `Branches[${index}]` });
    }
  }
  if (state.Type === 'Map') {
    for (const field of ['ItemProcessor', 'Iterator']) {
      const processor = state[field];
      if (isJsonObject(processor)) inner.push({ owner: processor, field });
    }
  }
  return inner;
}
