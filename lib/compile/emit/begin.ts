/**
 * The first state of every machine. It opens the run's record whoever started the execution, and makes the input that
 * all other states have. A second delivery of one scheduled occurrence ends here, as a success.
 *
 *     input  { "run": "…" } from the endpoint, { "params": {…} } from the console, …
 *     output { "task": { "abi": 1, "workflow": "sync", "hash": "…", "run": "…", "execution": "arn:…", "epoch": 0, "at": "" } }
 */

import { BEGIN, DUPLICATE } from '../plan/names.ts';
import { ABI, DUPLICATE as DUPLICATE_ERROR } from '../protocol.ts';
import { redelivery } from './retry.ts';
import { addState, type Scope } from './scope.ts';
import { INVOKE, invocation, TASK_TIMEOUT_SECONDS } from './task.ts';

export function emitBegin(scope: Scope, next: string): void {
  const { program, hash } = scope.plan;
  addState(scope, BEGIN, {
    Type: 'Task',
    Comment: 'Opens the run, fills in defaults, checks the parameters',
    Resource: INVOKE,
    Arguments: invocation(scope, {
      abi: ABI,
      op: 'begin',
      workflow: program.id,
      hash,
      input: '{% $states.input %}',
      execution: '{% $states.context.Execution.Id %}',
      name: '{% $states.context.Execution.Name %}',
      startedAt: '{% $states.context.Execution.StartTime %}',
      epoch: '{% $states.context.Execution.RedriveCount %}',
      machine: '{% $states.context.StateMachine.Id %}',
    }),
    Output: {
      task: {
        abi: ABI,
        workflow: program.id,
        hash,
        run: '{% $states.result.Payload.run %}',
        execution: '{% $states.context.Execution.Id %}',
        epoch: 0,
        at: '',
      },
    },
    TimeoutSeconds: TASK_TIMEOUT_SECONDS,
    Retry: redelivery(),
    Catch: [{ ErrorEquals: [DUPLICATE_ERROR], Next: DUPLICATE, Output: {} }],
    Next: next,
  });
  addState(scope, DUPLICATE, {
    Type: 'Succeed',
    Comment: 'This scheduled occurrence already has its run',
  });
}
