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

import { ABI, type Task, type TaskAnswer } from '../compile/protocol.ts';
import type { StepsEnvironment } from './environment.ts';
import { namedError } from './failure.ts';
import { adopt } from './ops/adopt.ts';
import { begin } from './ops/begin.ts';
import { call } from './ops/call.ts';
import { enter } from './ops/enter.ts';
import { finish } from './ops/finish.ts';
import { items } from './ops/items.ts';
import { lane } from './ops/lane.ts';
import { loop } from './ops/loop.ts';
import { pass } from './ops/pass.ts';
import { prepare } from './ops/prepare.ts';
import { settle } from './ops/settle.ts';

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
    case 'items':
      return items(task, env);
    case 'lane':
      return lane(task, env);
    case 'pass':
      return pass(task, env);
    case 'enter':
      return enter(task, env);
    case 'settle':
      return settle(task, env);
    case 'prepare':
      return prepare(task, env);
    case 'adopt':
      return adopt(task, env);
    case 'finish':
      return finish(task, env);
    default: {
      const { op }: { op: string } = task;
      throw namedError('UnknownOp', `this engine does not know the op "${op}"`);
    }
  }
}
