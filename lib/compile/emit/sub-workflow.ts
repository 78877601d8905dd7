/**
 * A sub-workflow: a task writes the child's run record, Step Functions starts the child and waits for its end, a task
 * takes its output. However the child ends, the adopt task is next: it reads the child's record. After a redrive of the
 * parent it redrives a failed child instead of starting another, and answers `wait` while that runs.
 *
 *     sync prepare ─▶ sync prepare next ─▶ sync ─▶ sync adopt ─▶ sync adopt next ─▶ next
 *                       ├─ skipped ─▶ next           ▲   ▲           └─ wait ─▶ sync adopt wait ─┐
 *                       └─ no child ─────────────────┘   └───────────────────────────────────────┘
 */
import type { TaskState } from '../../asl/types.ts';
import { adoptOf, nextOf, prepareOf, waitOf } from '../plan/names.ts';
import type { PlannedSubWorkflow } from '../plan/plan.ts';
import { workflowComment } from './comment.ts';
import { KEEP_ANSWER, KEEP_TASK } from './payload.ts';
import { START_RETRY } from './retry.ts';
import { addState, type Scope } from './scope.ts';
import { addChoice, addTask, addWait, catchFailure, rule } from './task.ts';

const START_EXECUTION = 'arn:aws:states:::states:startExecution.sync:2';

/**
 * The child's input, and the parent's ARN under the key by which the console links the two executions.
 * Source: developer guide, "Start workflow executions from a task state", "Associate workflow executions".
 */
const CHILD_INPUT =
  "{% $merge([$states.input.answer.child.input, {'AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID': $states.context.Execution.Id}]) %}";

export function emitSubWorkflow(scope: Scope, step: PlannedSubWorkflow, next: string): void {
  const [prepare, adopt] = [prepareOf(step.id), adoptOf(step.id)];
  addTask(scope, prepare, {
    comment: `run record of the sub-workflow "${step.id}"`,
    op: 'prepare',
    step: step.id,
    output: KEEP_ANSWER,
    next: nextOf(prepare),
    ...catchFailure(step, next),
  });
  addState(scope, nextOf(prepare), {
    Type: 'Choice',
    Choices: [
      rule("$states.input.answer.status = 'skipped'", next),
      rule('$not($exists($states.input.answer.child))', adopt),
    ],
    Default: step.id,
  });
  addState(scope, step.id, startState(step, workflowComment(step.node, scope.plan.document)));
  addTask(scope, adopt, {
    comment: `output of the sub-workflow "${step.id}"`,
    op: 'adopt',
    step: step.id,
    output: KEEP_ANSWER,
    next: nextOf(adopt),
    ...catchFailure(step, next),
  });
  addChoice(scope, adopt, [{ status: 'wait', to: waitOf(adopt) }], next);
  addWait(scope, adopt);
}

/** `States.ALL` stands alone and last, as it must; it is no step's failure that is caught here, the adopt task judges. */
function startState(step: PlannedSubWorkflow, comment: string): TaskState {
  const adopt = adoptOf(step.id);
  const state: TaskState = {
    Type: 'Task',
    Comment: comment,
    Resource: START_EXECUTION,
    Arguments: {
      StateMachineArn: '{% $states.input.answer.child.stateMachineArn %}',
      Name: '{% $states.input.answer.child.name %}',
      Input: CHILD_INPUT,
    },
    Output: KEEP_TASK,
    Retry: START_RETRY,
    Catch: [{ ErrorEquals: ['States.ALL'], Next: adopt, Output: KEEP_TASK }],
    Next: adopt,
  };
  // The child runs outside the function that keeps the deadlines of other steps.
  if (step.node.timeoutMs !== undefined) state.TimeoutSeconds = Math.ceil(step.node.timeoutMs / 1000);
  return state;
}
