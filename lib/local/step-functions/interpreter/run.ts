/**
 * Runs one execution of a state machine from its start, or from a checkpoint, to its end. Everything that a state machine
 * can do ends in an outcome; nothing of it rejects. The time limit of the machine and StopExecution both cut the main
 * lane off; what is in flight is told by its signal and not waited for.
 *
 * Events that end an execution: ExecutionSucceeded and ExecutionFailed point at the last event there is, ExecutionAborted
 * and ExecutionTimedOut at none. A timed out execution has States.Timeout in its event and no error of its own.
 */
import type { ExecutionOutcome, ExecutionStart, RunExecution } from '../contract.ts';
import { asCheckpoint, fromCheckpoint, type LaneNode } from './checkpoint.ts';
import { childController, type Execution, type Lane } from './execution.ts';
import { errorDetails, Interrupted, STATES, StateError } from './failure.ts';
import { awsFunctions } from './functions.ts';
import { createHistory, type History } from './history.ts';
import { jsonText } from './json-text.ts';
import { rootScope } from './variables.ts';
import { walk } from './walk.ts';

/** Why the main lane was cut off. */
type CutOff = { by: 'stop'; error?: string; cause?: string } | { by: 'timeout' };

/** @see RunExecution in contract.ts */
export const runExecution: RunExecution = async (start, host, signal) => {
  const history = createHistory(start, host);
  const root = start.resume === undefined ? freshNode(start) : fromCheckpoint(start.resume);
  if (root === undefined) return unreadable(start, history);
  const execution: Execution = {
    start,
    host,
    history,
    machine: start.definition,
    functions: awsFunctions(host),
    moved: () => host.checkpoint(asCheckpoint(root)),
    walk,
  };
  const { controller, release } = childController(signal);
  const timer = new AbortController();
  let cutOff: CutOff | undefined;
  const limit = start.definition.TimeoutSeconds;
  if (limit !== undefined) {
    host.clock.sleep(limit * 1000, timer.signal).then(
      () => {
        cutOff ??= { by: 'timeout' };
        controller.abort(new Interrupted());
      },
      () => undefined,
    );
  }
  const onStop = () => {
    cutOff ??= { by: 'stop', ...stopReason(signal.reason) };
  };
  if (signal.aborted) onStop();
  else signal.addEventListener('abort', onStop, { once: true });

  const lane: Lane = {
    execution,
    scope: rootScope(root.variables),
    signal: controller.signal,
    previous: 0,
    node: root,
  };
  try {
    open(lane, start);
    const output = await walk(lane, start.definition.States);
    execution.history.record(
      'ExecutionSucceeded',
      execution.history.lastId,
      ['executionSucceededEventDetails', { output: jsonText(output), outputDetails: { truncated: false } }],
      true,
    );
    return { status: 'SUCCEEDED', output };
  } catch (failure) {
    return close(lane, failure, cutOff);
  } finally {
    timer.abort();
    release();
    signal.removeEventListener('abort', onStop);
  }
};

function open(lane: Lane, start: ExecutionStart): void {
  const { history } = lane.execution;
  // Not `resume`: an execution that was redriven before it had a checkpoint has begun all the same.
  if (start.redriveCount === 0) {
    history.record('ExecutionStarted', 0, [
      'executionStartedEventDetails',
      { input: jsonText(start.input), inputDetails: { truncated: false }, roleArn: start.roleArn },
    ]);
    return;
  }
  history.record('ExecutionRedriven', start.lastEventId, [
    'executionRedrivenEventDetails',
    { redriveCount: start.redriveCount },
  ]);
}

function close(lane: Lane, failure: unknown, cutOff: CutOff | undefined): ExecutionOutcome {
  const { history } = lane.execution;
  const checkpoint = asCheckpoint(lane.node);
  if (failure instanceof Interrupted && cutOff?.by === 'timeout') {
    history.record(
      'ExecutionTimedOut',
      0,
      ['executionTimedOutEventDetails', { error: STATES.TIMEOUT }],
      true,
    );
    return { status: 'TIMED_OUT', checkpoint };
  }
  if (failure instanceof Interrupted && cutOff?.by === 'stop') {
    const { error, cause } = cutOff;
    const details = errorDetails({ error, cause });
    history.record('ExecutionAborted', 0, ['executionAbortedEventDetails', details], true);
    return { status: 'ABORTED', ...details, checkpoint };
  }
  const { error, cause } =
    failure instanceof StateError ? failure : new StateError(STATES.RUNTIME, describe(failure));
  const details = errorDetails({ error, cause });
  history.record('ExecutionFailed', history.lastId, ['executionFailedEventDetails', details], true);
  return { status: 'FAILED', ...details, checkpoint };
}

function freshNode({ definition, input }: ExecutionStart): LaneNode {
  return { state: definition.StartAt, input, variables: {}, entered: 0, enteredTime: '' };
}

/** What it is to be resumed from is not a checkpoint, so nobody knows where it stood. */
function unreadable(start: ExecutionStart, history: History): ExecutionOutcome {
  const details = { error: STATES.RUNTIME, cause: 'The checkpoint of the execution cannot be read.' };
  history.record('ExecutionFailed', history.lastId, ['executionFailedEventDetails', details], true);
  return { status: 'FAILED', ...details, checkpoint: start.resume ?? {} };
}

function describe(failure: unknown): string {
  return `The local Step Functions failed: ${failure instanceof Error ? failure.message : String(failure)}`;
}

function stopReason(reason: unknown): { error?: string; cause?: string } {
  const given = typeof reason === 'object' && reason !== null ? (reason as Record<string, unknown>) : {};
  const named: { error?: string; cause?: string } = {};
  if (typeof given.error === 'string') named.error = given.error;
  if (typeof given.cause === 'string') named.cause = given.cause;
  return named;
}
