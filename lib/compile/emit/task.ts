/**
 * The states that all step types are made of: a task of call-tool, the Choice that reads its answer, the Wait before it
 * is sent again, and the constant that ends an iteration.
 */
import { MAX_FUNCTION_SECONDS } from '../../asl/limits.ts';
import type { Catcher, ChoiceRule, TaskState } from '../../asl/types.ts';
import type { Json } from '../../blueprint/json.ts';
import { nextOf, waitOf } from '../plan/names.ts';
import type { PlannedStep } from '../plan/plan.ts';
import type { StepTask, TaskAnswer } from '../protocol.ts';
import { KEEP_TASK, stepPayload } from './payload.ts';
import { redelivery, stepFailures } from './retry.ts';
import { addState, failureState, type Scope } from './scope.ts';

export const INVOKE = 'arn:aws:states:::lambda:invoke';
/**
 * A Task's limit is the longest that a function may work and a little more: the function's own end is heard of first. A machine
 * outlives the function's setting, so a limit by that would end tasks of a function that has been given more time since.
 */
export const TASK_TIMEOUT_SECONDS = MAX_FUNCTION_SECONDS + 60;

export interface TaskDetails {
  comment: string;
  op: StepTask['op'];
  step: string;
  output: Json;
  next: string;
  catches?: Catcher;
}

/**
 *     { "Type": "Task", "Comment": "list_pods on k8s", "Resource": "arn:aws:states:::lambda:invoke",
 *       "Arguments": { "FunctionName": "…", "Payload": "{% … %}" }, "Output": "{% {'task': $states.input.task} %}",
 *       "TimeoutSeconds": 960, "Retry": […], "Catch": […], "Next": "…" }
 */
export function addTask(scope: Scope, name: string, details: TaskDetails): void {
  const state: TaskState = {
    Type: 'Task',
    Comment: details.comment,
    Resource: INVOKE,
    Arguments: invocation(scope, stepPayload(details.op, details.step)),
    Output: details.output,
    TimeoutSeconds: TASK_TIMEOUT_SECONDS,
    Retry: redelivery(),
  };
  if (details.catches !== undefined) state.Catch = [details.catches];
  state.Next = details.next;
  addState(scope, name, state);
}

export function invocation(scope: Scope, payload: Json): Json {
  return { FunctionName: scope.plan.target.callToolArn, Payload: payload };
}

/** The Catch of a step's task, or nothing where its failure ends the run. */
export function catchFailure(
  step: PlannedStep,
  next: string,
  output: Json = KEEP_TASK,
): { catches?: Catcher } {
  const name = failureState(step.onFailure, next);
  return name === undefined ? {} : { catches: stepFailures(name, output) };
}

/** A route of a Choice: where an answer's status leads. */
export interface Route {
  status: TaskAnswer['status'];
  to: string;
}

/**
 * The Choice after the task `state`.
 *
 *     "pods next": { "Type": "Choice", "Choices": [{ "Condition": "{% $states.input.answer.status = 'more' %}",
 *                    "Next": "pods" }], "Default": "report" }
 */
export function addChoice(scope: Scope, state: string, routes: readonly Route[], otherwise: string): void {
  const rules = routes.map(({ status, to }) => rule(`$states.input.answer.status = '${status}'`, to));
  addState(scope, nextOf(state), { Type: 'Choice', Choices: rules, Default: otherwise });
}

export function rule(condition: string, next: string): ChoiceRule {
  return { Condition: `{% ${condition} %}`, Next: next };
}

/** The Wait before the task `state` is sent again, as long as it asked for. */
export function addWait(scope: Scope, state: string, output: Json = KEEP_TASK): void {
  addState(scope, waitOf(state), {
    Type: 'Wait',
    Comment: 'The delay before the next attempt does not fit into the function',
    Seconds: '{% $states.input.answer.seconds %}',
    Output: output,
    Next: state,
  });
}

/** The end of an iteration or a branch: nothing but a constant leaves it. */
export function addEnd(scope: Scope, name: string): void {
  addState(scope, name, { Type: 'Pass', Output: 0, End: true });
}
