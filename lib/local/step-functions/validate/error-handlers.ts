/**
 * Retry and Catch. `States.ALL` stands alone in its list, and its entry stands last.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../blueprint/json.ts';
import { checkAssign } from './assign.ts';
import { checkType, MAX_SECONDS, missingFields, number, only, seconds, unknownFields } from './fields.ts';
import type { StateCheck } from './surroundings.ts';

/** One year and a day, the longest delay of a retrier. */
const MAX_DELAY_SECONDS = 31_622_400;

export function checkRetry(check: StateCheck): void {
  const { report } = check;
  for (const { entry, location, last } of entriesOf(check, 'Retry')) {
    unknownFields(
      entry,
      [
        'ErrorEquals',
        'IntervalSeconds',
        'MaxAttempts',
        'BackoffRate',
        'MaxDelaySeconds',
        'JitterStrategy',
        'Comment',
      ],
      location,
      report,
    );
    checkErrors(entry, location, last, check);
    seconds(entry, 'IntervalSeconds', location, report, { expressions: false });
    number(
      entry,
      'MaxAttempts',
      { min: 0, max: MAX_SECONDS, integer: true, expressions: false },
      location,
      report,
    );
    number(
      entry,
      'BackoffRate',
      { min: 1, max: Number.MAX_VALUE, integer: false, expressions: false },
      location,
      report,
    );
    const delay = { min: 1, max: MAX_DELAY_SECONDS, integer: true, expressions: false };
    number(entry, 'MaxDelaySeconds', delay, location, report);
    const { MaxDelaySeconds: most, IntervalSeconds: interval = 1 } = entry;
    if (typeof most === 'number' && typeof interval === 'number' && most <= interval) {
      report.schema('MaxDelaySeconds must be greater than IntervalSeconds', `${location}/MaxDelaySeconds`);
    }
    only(entry, 'JitterStrategy', ['FULL', 'NONE'], location, report);
  }
}

export function checkCatch(check: StateCheck): void {
  const { report, own } = check;
  const fields = ['ErrorEquals', 'Next', 'Assign', 'Comment', own === 'JSONata' ? 'Output' : 'ResultPath'];
  for (const { entry, location, last } of entriesOf(check, 'Catch')) {
    unknownFields(entry, fields, location, report);
    checkErrors(entry, location, last, check);
    missingFields(entry, ['Next'], location, report);
    checkType(entry, 'Next', 'string', location, report);
    checkAssign(entry, location, check);
  }
}

function entriesOf(
  check: StateCheck,
  field: 'Retry' | 'Catch',
): { entry: JsonObject; location: string; last: boolean }[] {
  const { state, report } = check;
  const list = state[field];
  if (!checkType(state, field, 'array', check.location, report) || !Array.isArray(list)) return [];
  return list.flatMap((entry: Json, index) => {
    const location = `${check.location}/${field}[${index}]`;
    if (isJsonObject(entry)) return { entry, location, last: index === list.length - 1 };
    report.schema('Expected value of type Object', location);
    return [];
  });
}

function checkErrors(entry: JsonObject, location: string, last: boolean, { report }: StateCheck): void {
  missingFields(entry, ['ErrorEquals'], location, report);
  const { ErrorEquals: errors } = entry;
  if (!checkType(entry, 'ErrorEquals', 'array', location, report) || !Array.isArray(errors)) return;
  if (errors.length === 0) report.schema('Value cannot be empty', `${location}/ErrorEquals`);
  for (const [index, error] of errors.entries()) {
    const place = `${location}/ErrorEquals[${index}]`;
    if (typeof error !== 'string') report.schema('Expected value of type String', place);
    else if (error === 'States.ALL' && (errors.length > 1 || !last)) {
      report.schema('States.ALL must appear alone and at end of list', place);
    }
  }
}
