/**
 * Evaluating the fields of a state: a JSON template whose strings may be expressions. A template without expressions is
 * its own value and costs one look-up. A failure is recorded as EvaluationFailed with AWS's sentence and thrown as
 * States.QueryEvaluationError.
 */
import type { Json, JsonObject } from '../../../blueprint/json.ts';
import { contextObject, type MapItem } from './context.ts';
import { record, type Visit } from './execution.ts';
import { evaluateExpression, expressionSource } from './expression.ts';
import { STATES, StateError } from './failure.ts';
import { isJsonata } from './query-language.ts';
import { readVariables } from './variables.ts';

/** What `$states` holds beyond input and context. */
export interface Available {
  result?: Json;
  errorOutput?: Json;
  mapItem?: MapItem;
}

const constants = new WeakMap<object, boolean>();

/**
 * @param location the field's name as AWS writes it, e.g. `Arguments`; parts below it are added as `/key` and `[index]`
 * @throws StateError States.QueryEvaluationError
 */
export async function evaluate(
  visit: Visit,
  template: Json,
  location: string,
  available?: Available,
): Promise<Json> {
  if (isConstant(template) || !isJsonata(visit)) return template;
  return fill(visit, template, location, bindings(visit, available));
}

/** An evaluated field that must be a number; `undefined` where the field is absent. */
export async function evaluateNumber(
  visit: Visit,
  template: Json | undefined,
  location: string,
): Promise<number | undefined> {
  if (template === undefined) return undefined;
  const value = await evaluate(visit, template, location);
  if (typeof value === 'number') return value;
  throw unexpectedType(visit, template, location, 'number', value);
}

/** Records and makes the error of a field whose value has the wrong type. */
export function unexpectedType(
  visit: Visit,
  template: Json,
  location: string,
  expected: string,
  value: Json,
): StateError {
  const source = typeof template === 'string' ? expressionSource(template) : undefined;
  const got = `unexpected result type. Expected '${expected}', but was '${typeName(value)}' for value: ${JSON.stringify(value)}`;
  const subject =
    source === undefined
      ? `The value specified for the field '${location}' has an`
      : `The JSONata expression '${source}' specified for the field '${location}' returned an`;
  return evaluationFailed(visit, `${subject} ${got}`, location);
}

/**
 * Records EvaluationFailed and returns what is to be thrown.
 * @param error States.DataLimitExceeded has its cause alone; AWS puts the state in front of other causes
 */
export function evaluationFailed(
  visit: Visit,
  problem: string,
  location?: string,
  error: string = STATES.QUERY,
): StateError {
  const { lane, name, entered } = visit;
  const cause = error === STATES.DATA_LIMIT ? problem : `${whileExecuting(visit)} ${problem}`;
  const details: JsonObject = { error, cause };
  if (location !== undefined) details.location = location;
  details.state = name;
  const previous = lane.previous === entered ? visit.entryPrevious : lane.previous;
  record(lane, 'EvaluationFailed', ['evaluationFailedEventDetails', details], previous);
  return new StateError(error, cause);
}

/** The start of AWS's sentences about what went wrong in a state. */
export function whileExecuting({ name, entered }: Visit): string {
  return `An error occurred while executing the state '${name}' (entered at the event id #${entered}).`;
}

function bindings(visit: Visit, available: Available | undefined): Record<string, unknown> {
  const bound = Object.create(visit.execution.functions) as Record<string, unknown>;
  readVariables(visit.lane.scope, bound);
  const states: Record<string, unknown> = {
    input: visit.input,
    context: contextObject(visit, available?.mapItem),
  };
  if (available?.result !== undefined) states.result = available.result;
  if (available?.errorOutput !== undefined) states.errorOutput = available.errorOutput;
  bound.states = states;
  return bound;
}

async function fill(
  visit: Visit,
  template: Json,
  location: string,
  bound: Record<string, unknown>,
): Promise<Json> {
  if (typeof template === 'string') {
    const source = expressionSource(template);
    if (source === undefined) return template;
    const outcome = await evaluateExpression(source, bound);
    if ('value' in outcome) return outcome.value;
    throw evaluationFailed(
      visit,
      `The JSONata expression '${source}' specified for the field '${location}' ${outcome.problem}`,
      location,
    );
  }
  if (isConstant(template)) return template;
  if (Array.isArray(template)) {
    const items: Json[] = [];
    for (const [index, item] of template.entries()) {
      items.push(await fill(visit, item, `${location}[${index}]`, bound));
    }
    return items;
  }
  const entries: [string, Json][] = [];
  for (const [key, member] of Object.entries(template as JsonObject)) {
    entries.push([key, await fill(visit, member, `${location}/${key}`, bound)]);
  }
  return Object.fromEntries(entries);
}

/** True where no string of the template is an expression. */
function isConstant(template: Json): boolean {
  if (typeof template === 'string') return expressionSource(template) === undefined;
  if (typeof template !== 'object' || template === null) return true;
  let constant = constants.get(template);
  if (constant === undefined) {
    constant = Object.values(template).every(isConstant);
    constants.set(template, constant);
  }
  return constant;
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
