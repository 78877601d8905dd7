/** Fail: ends its lane with an error. Error and Cause may be expressions that give text. */
import type { FailState } from '../../../../asl/types.ts';
import { evaluate, unexpectedType } from '../evaluate.ts';
import type { Transition, Visit } from '../execution.ts';
import { StateError } from '../failure.ts';

export async function runFail(visit: Visit<FailState>): Promise<Transition> {
  const error = await text(visit, 'Error');
  const cause = await text(visit, 'Cause');
  throw new StateError(error, cause);
}

async function text(visit: Visit<FailState>, field: 'Error' | 'Cause'): Promise<string | undefined> {
  const template = visit.state[field];
  if (template === undefined) return undefined;
  const value = await evaluate(visit, template, field);
  if (typeof value !== 'string') throw unexpectedType(visit, template, field, 'string', value);
  return value;
}
