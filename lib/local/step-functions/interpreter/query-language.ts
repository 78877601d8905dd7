/**
 * JSONata is what runs here. A JSONPath state runs as far as nothing in it is a path, a reference or an intrinsic
 * function, that is, as far as both languages mean the same; anything else is refused with a sentence that says so.
 */
import type { Json } from '../../../blueprint/json.ts';
import type { Visit } from './execution.ts';
import { STATES, StateError } from './failure.ts';

/** Fields that only JSONPath states have. */
const JSONPATH_FIELDS = [
  'InputPath',
  'OutputPath',
  'Parameters',
  'Result',
  'ResultPath',
  'ResultSelector',
  'ItemsPath',
  'Iterator',
  'SecondsPath',
  'TimestampPath',
  'TimeoutSecondsPath',
  'HeartbeatSecondsPath',
  'MaxConcurrencyPath',
  'ToleratedFailureCountPath',
  'ToleratedFailurePercentagePath',
  'ErrorPath',
  'CausePath',
];

/** States whose JSONPath form can do without paths. */
const PLAIN = new Set(['Pass', 'Succeed', 'Fail', 'Wait', 'Parallel']);

/** True where the state's strings may be expressions. The language of the machine is JSONPath by default. */
export function isJsonata({ state, execution }: Visit): boolean {
  return (state.QueryLanguage ?? execution.machine.QueryLanguage) === 'JSONata';
}

/** @throws StateError States.Runtime for a JSONPath state that needs JSONPath */
export function refuseJsonPath(visit: Visit): void {
  if (isJsonata(visit)) return;
  const need = needsJsonPath(visit);
  if (need === undefined) return;
  throw new StateError(
    STATES.RUNTIME,
    `The state '${visit.name}' uses JSONPath (${need}), which the local Step Functions does not run. Set "QueryLanguage": "JSONata".`,
  );
}

function needsJsonPath(visit: Visit): string | undefined {
  const { state } = visit;
  if (!PLAIN.has(state.Type)) return `a ${state.Type} state`;
  const field = JSONPATH_FIELDS.find((name) => Object.hasOwn(state, name));
  if (field !== undefined) return field;
  if (state.Assign !== undefined && hasPath(state.Assign)) return 'a path in Assign';
  return undefined;
}

/** True where a key ends in `.$`, which makes its value a path. */
function hasPath(template: Json): boolean {
  if (typeof template !== 'object' || template === null) return false;
  if (Array.isArray(template)) return template.some(hasPath);
  return Object.entries(template).some(([key, value]) => key.endsWith('.$') || hasPath(value));
}
