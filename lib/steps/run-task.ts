/**
 * call-tool's work: one task of a compiled machine, by its op.
 *
 *     begin    opens the run's record             loop     walks a whole batch loop
 *     call     one tool call                      items    evaluates a loop's items
 *     enter    opens a container                  lane     walks a part of a batch loop
 *     settle   closes a container                 pass     the next pass of a while loop of states
 *     prepare  writes a sub-run's record          adopt    takes a sub-run's output
 *     finish   evaluates `output`, closes the run
 *
 * A task that answers is done for good; one that throws has failed (a StepFailure, whose stack is one line of our own words),
 * is to be sent again (`Busy`), or met a fault of the platform or ours.
 */
import type { StepsEnvironment } from './environment.ts';
import { namedError } from './failure.ts';
import { begin } from './ops/begin.ts';
import { call } from './ops/call.ts';
import { finish } from './ops/finish.ts';
import { loop } from './ops/loop.ts';
import { ABI, type Task, type TaskAnswer } from './protocol.ts';

/** Runs a task. */
export async function runTask(task: Task, env: StepsEnvironment): Promise<TaskAnswer> {
  if (task.abi !== ABI)
    throw namedError('UnknownAbi', `this engine does not know tasks of abi ${String(task.abi)}`);
  switch (task.op) {
    case 'begin':
      return begin(task, env);
    case 'call':
      return call(task, env);
    case 'loop':
      return loop(task, env);
    case 'finish':
      return finish(task, env);
    default:
      throw namedError('UnknownOp', `this engine does not know the op ${task.op}`);
  }
}
