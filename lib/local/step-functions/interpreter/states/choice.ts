/** Choice: the first rule whose Condition is true, else Default. A rule's Assign and Output stand for the state's own. */
import type { ChoiceState } from '../../../../asl/types.ts';
import type { Json } from '../../../../blueprint/json.ts';
import { evaluate, unexpectedType, whileExecuting } from '../evaluate.ts';
import type { Transition, Visit } from '../execution.ts';
import { type ExitFields, leaveState } from '../exit.ts';
import { STATES, StateError } from '../failure.ts';

export async function runChoice(visit: Visit<ChoiceState>): Promise<Transition> {
  const { state } = visit;
  for (const [index, rule] of state.Choices.entries()) {
    const location = `Choices[${index}]/Condition`;
    const met = await evaluate(visit, rule.Condition, location);
    if (typeof met !== 'boolean') throw unexpectedType(visit, rule.Condition, location, 'boolean', met);
    if (met)
      return leaveState(visit, exitFields(rule, rule.Next), visit.input, undefined, `Choices[${index}]/`);
  }
  if (state.Default === undefined) {
    // AWS names it States.Runtime, although the guide has States.NoChoiceMatched.
    throw new StateError(
      STATES.RUNTIME,
      `${whileExecuting(visit)} Failed to transition out of the state. The state does not point to a next state.`,
    );
  }
  return leaveState(visit, exitFields(state, state.Default), visit.input);
}

function exitFields(from: { Output?: Json; Assign?: ExitFields['Assign'] }, next: string): ExitFields {
  const fields: ExitFields = { Next: next };
  if (from.Output !== undefined) fields.Output = from.Output;
  if (from.Assign !== undefined) fields.Assign = from.Assign;
  return fields;
}
