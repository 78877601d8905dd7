/** The last state of every machine: evaluates the blueprint's `output` and closes the run's record. */
import { FINISH } from '../plan/names.ts';
import { stepPayload } from './payload.ts';
import { redelivery } from './retry.ts';
import { addState, type Scope } from './scope.ts';
import { INVOKE, invocation, TASK_TIMEOUT_SECONDS } from './task.ts';

export function emitFinish(scope: Scope): void {
  addState(scope, FINISH, {
    Type: 'Task',
    Comment: 'Evaluates the output and closes the run',
    Resource: INVOKE,
    Arguments: invocation(scope, stepPayload('finish', '')),
    Output: { run: '{% $states.input.task.run %}' },
    TimeoutSeconds: TASK_TIMEOUT_SECONDS,
    Retry: redelivery(),
    End: true,
  });
}
