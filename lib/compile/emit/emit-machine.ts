/**
 * Plan → state machine.
 *
 *      begin ─▶ the steps' states ─▶  finish
 *        └─ Duplicate ─▶  duplicate
 *
 * The document's hash stands in every task and in the machine's comment: a published version says which document it runs.
 */
import type { StateMachine } from '../../asl/types.ts';
import { BEGIN, FINISH } from '../plan/names.ts';
import { entryOf, type Plan } from '../plan/plan.ts';
import { emitBegin } from './begin.ts';
import { shortened } from './comment.ts';
import { emitFinish } from './finish.ts';
import { openScope } from './scope.ts';
import { emitList } from './step.ts';

/** Writes a plan down; pure, and the same for the same plan to the last byte. */
export function emitMachine(plan: Plan): StateMachine {
  const scope = openScope(plan, emitList);
  emitBegin(scope, entryOf(plan.steps, FINISH));
  emitList(scope, plan.steps, FINISH);
  emitFinish(scope);
  return {
    Comment: machineComment(plan),
    QueryLanguage: 'JSONata',
    StartAt: BEGIN,
    TimeoutSeconds: plan.program.timeoutSeconds,
    States: scope.states,
  };
}

/** "sync 2.0.0: keeps the graph up to date (document 9f86d0…)". */
function machineComment({ program, hash }: Plan): string {
  const version = program.version === undefined ? '' : ` ${program.version}`;
  const what = program.description === undefined ? '' : `: ${shortened(program.description)}`;
  return `${program.id}${version}${what} (document ${hash})`;
}
