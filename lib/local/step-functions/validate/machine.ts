/**
 * A machine, a branch or an item processor: the fields around a list of states, and each state of it.
 */
import { isJsonObject, type JsonObject } from '../../../blueprint/json.ts';
import type { Report } from './diagnostic.ts';
import { checkType, missingFields, only, seconds, unknownFields } from './fields.ts';
import { checkGraph } from './graph.ts';
import { innerOwners } from './scopes.ts';
import { checkState } from './state.ts';
import type { Surroundings } from './surroundings.ts';

/** Deeper nesting than anybody writes; the service refuses such machines as well. */
const MAX_DEPTH = 50;
const LANGUAGES = ['JSONPath', 'JSONata'];

export function checkMachine(machine: JsonObject, type: 'STANDARD' | 'EXPRESS', report: Report): void {
  unknownFields(
    machine,
    ['Comment', 'QueryLanguage', 'StartAt', 'States', 'TimeoutSeconds', 'Version'],
    '/',
    report,
  );
  checkType(machine, 'Comment', 'string', '', report);
  only(machine, 'QueryLanguage', LANGUAGES, '', report);
  only(machine, 'Version', ['1.0'], '', report);
  seconds(machine, 'TimeoutSeconds', '', report, { expressions: false });
  const language = machine.QueryLanguage === 'JSONata' ? 'JSONata' : 'JSONPath';
  checkStates(machine, '', { language, type, report, expressions: new Map() }, 0);
}

/** @param location of the owner of `States`: `''` for the machine itself */
function checkStates(owner: JsonObject, location: string, around: Surroundings, depth: number): void {
  const { report } = around;
  const here = location === '' ? '/' : location;
  if (depth > MAX_DEPTH) {
    report.add('TOO_DEEPLY_NESTED', `States are nested more than ${MAX_DEPTH} deep`, here);
    return;
  }
  missingFields(owner, ['States', 'StartAt'], here, report);
  checkType(owner, 'StartAt', 'string', location, report);
  const { States: states } = owner;
  if (states === undefined) return;
  if (!isJsonObject(states)) {
    report.schema('Expected value of type Object', `${location}/States`);
    return;
  }
  if (Object.keys(states).length === 0) {
    report.schema('Value cannot be empty', `${location}/States`);
    return;
  }
  for (const [name, state] of Object.entries(states)) {
    const place = `${location}/States/${name}`;
    if (!isJsonObject(state)) {
      report.schema('Expected value of type Object', place);
      continue;
    }
    checkState(name, state, place, around);
    for (const inner of innerOwners(state)) {
      checkStates(inner.owner, `${place}/${inner.field}`, around, depth + 1);
    }
  }
  checkGraph(owner, states, location, report);
}
