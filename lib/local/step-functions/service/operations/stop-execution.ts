/** StopExecution. The end is stored before it is answered; an execution that has ended stays as it is. */
import { type Operation, seconds } from '../context.ts';
import { loadExecution } from '../executions.ts';
import type { StopReason } from '../outcomes.ts';
import { ARN, readParameters } from '../parameters.ts';

export const stopExecution: Operation = async (context, input) => {
  const request = readParameters(input, {
    executionArn: ARN,
    error: { type: 'string', max: 256 },
    cause: { type: 'string', max: 32_768 },
  });
  const { executionArn } = await loadExecution(context, request.executionArn);
  const reason: StopReason = {};
  if (request.error !== undefined) reason.error = request.error;
  if (request.cause !== undefined) reason.cause = request.cause;
  await context.runner.stop(executionArn, reason);
  return { stopDate: seconds(context.executions.find(executionArn)?.stopDate ?? context.clock.now()) };
};
