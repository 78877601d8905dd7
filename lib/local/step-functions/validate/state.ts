/**
 * One state: its fields by type and query language, and the rules of its type.
 */
import { MAX_STATE_NAME } from '../../../asl/limits.ts';
import { isJsonObject, type JsonObject } from '../../../blueprint/json.ts';
import { checkAssign } from './assign.ts';
import { checkCatch, checkRetry } from './error-handlers.ts';
import { checkExpressions } from './expressions.ts';
import {
  checkType,
  exactlyOne,
  isExpression,
  missingFields,
  only,
  seconds,
  unknownFields,
} from './fields.ts';
import { checkMap } from './map-state.ts';
import { COMMON_FIELDS, FIELDS_OF_TYPE, JSONATA_ONLY, JSONPATH_ONLY } from './state-fields.ts';
import type { QueryLanguage, StateCheck, Surroundings } from './surroundings.ts';
import { checkTask } from './task-state.ts';

export function checkState(name: string, state: JsonObject, location: string, around: Surroundings): void {
  const { report } = around;
  if ([...name].length > MAX_STATE_NAME) {
    report.add('INVALID_STATE_NAME', `State name is longer than ${MAX_STATE_NAME} characters`, location);
  }
  const { Type: type } = state;
  if (type === undefined) {
    missingFields(state, ['Type'], location, report);
    return;
  }
  const fields =
    typeof type === 'string' && Object.hasOwn(FIELDS_OF_TYPE, type) ? FIELDS_OF_TYPE[type] : undefined;
  if (fields === undefined) {
    only(state, 'Type', Object.keys(FIELDS_OF_TYPE), location, report);
    return;
  }
  checkType(state, 'Comment', 'string', location, report);
  const own = checkLanguage(state, location, around);
  unknownFields(state, [...COMMON_FIELDS, ...fields], location, report);
  const foreign = own === 'JSONata' ? JSONPATH_ONLY : JSONATA_ONLY;
  const other = own === 'JSONata' ? 'JSONPath' : 'JSONata';
  for (const field of Object.keys(state)) {
    if (!fields.includes(field) || !foreign.has(field)) continue;
    report.schema(
      `The QueryLanguage is set to '${own}', but field '${field}' is only supported for the '${other}' QueryLanguage`,
      location,
    );
  }
  if (fields.includes('Next')) {
    checkType(state, 'Next', 'string', location, report);
    checkType(state, 'End', 'boolean', location, report);
    // `End: false` says nothing.
    exactlyOne(
      state.End === false ? { ...state, End: undefined as never } : state,
      ['Next', 'End'],
      location,
      report,
    );
  }
  checkAssign(state, location, around);
  const check: StateCheck = { ...around, state, location, own };
  checkByType(check);
  if (fields.includes('Retry')) checkRetry(check);
  if (fields.includes('Catch')) checkCatch(check);
  if (own === 'JSONata') checkExpressions(check);
}

function checkLanguage(state: JsonObject, location: string, around: Surroundings): QueryLanguage {
  const { QueryLanguage: given } = state;
  if (given === undefined) return around.language;
  only(state, 'QueryLanguage', ['JSONPath', 'JSONata'], location, around.report);
  if (given === 'JSONPath' && around.language === 'JSONata') {
    around.report.schema(
      "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine",
      location,
    );
  }
  return given === 'JSONPath' ? 'JSONPath' : 'JSONata';
}

function checkByType(check: StateCheck): void {
  const { state, location, own, report } = check;
  switch (state.Type) {
    case 'Task':
      checkTask(check);
      return;
    case 'Choice':
      checkChoice(check);
      return;
    case 'Wait':
      checkWait(check);
      return;
    case 'Fail':
      checkType(state, 'Error', 'string', location, report);
      checkType(state, 'Cause', 'string', location, report);
      return;
    case 'Parallel':
      missingFields(state, ['Branches'], location, report);
      if (checkType(state, 'Branches', 'array', location, report) && Array.isArray(state.Branches)) {
        if (state.Branches.length === 0) report.schema('Value cannot be empty', `${location}/Branches`);
        for (const [index, branch] of state.Branches.entries()) {
          const place = `${location}/Branches[${index}]`;
          if (!isJsonObject(branch)) report.schema('Expected value of type Object', place);
          else unknownFields(branch, ['StartAt', 'States', 'Comment'], place, report);
        }
      }
      if (own === 'JSONata' && typeof state.Arguments === 'string' && !isExpression(state.Arguments)) {
        report.schema('Value must be a valid JSONata expression or an object', `${location}/Arguments`);
      }
      return;
    case 'Map':
      checkMap(check);
      return;
    default:
      return;
  }
}

function checkChoice(check: StateCheck): void {
  const { state, location, own, report } = check;
  missingFields(state, ['Choices'], location, report);
  checkType(state, 'Default', 'string', location, report);
  if (!checkType(state, 'Choices', 'array', location, report) || !Array.isArray(state.Choices)) return;
  if (state.Choices.length === 0) report.schema('Value cannot be empty', `${location}/Choices`);
  for (const [index, rule] of state.Choices.entries()) {
    const place = `${location}/Choices[${index}]`;
    if (!isJsonObject(rule)) {
      report.schema('Expected value of type Object', place);
      continue;
    }
    checkAssign(rule, place, check);
    if (own === 'JSONPath') {
      missingFields(rule, ['Next'], place, report);
      continue;
    }
    unknownFields(rule, ['Condition', 'Next', 'Assign', 'Output', 'Comment'], place, report);
    missingFields(rule, ['Condition', 'Next'], place, report);
    checkType(rule, 'Next', 'string', place, report);
    const { Condition: condition } = rule;
    if (condition !== undefined && typeof condition !== 'boolean' && !isExpression(condition)) {
      report.schema('Value must be a boolean or a valid JSONata expression', `${place}/Condition`);
    }
  }
}

// RFC 3339 with the capital T and Z that the States Language asks for.
const TIMESTAMP =
  /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

function checkWait(check: StateCheck): void {
  const { state, location, own, report } = check;
  const fields =
    own === 'JSONata' ? ['Seconds', 'Timestamp'] : ['Seconds', 'Timestamp', 'SecondsPath', 'TimestampPath'];
  exactlyOne(state, fields, location, report);
  seconds(state, 'Seconds', location, report, { expressions: own === 'JSONata', min: 0 });
  const { Timestamp: timestamp } = state;
  if (timestamp === undefined || (own === 'JSONata' && isExpression(timestamp))) return;
  if (typeof timestamp !== 'string') report.schema('Expected value of type String', `${location}/Timestamp`);
  else if (!TIMESTAMP.test(timestamp))
    report.schema('String does not match RFC3339 timestamp', `${location}/Timestamp`);
}
