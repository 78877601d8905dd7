/**
 * RedriveExecution: goes on with an unsuccessful execution from where it stopped, under its own ARN and definition.
 * A client token that redrove it within the last 15 minutes (one of the last ten) gets the same answer again.
 */
import { type Operation, seconds } from '../context.ts';
import { loadExecution } from '../executions.ts';
import { ARN, readParameters } from '../parameters.ts';

export const redriveExecution: Operation = async (context, input) => {
  const request = readParameters(input, {
    executionArn: ARN,
    clientToken: { type: 'string', min: 1, max: 64 },
  });
  const record = await loadExecution(context, request.executionArn);
  return { redriveDate: seconds(await context.runner.redrive(record, request.clientToken)) };
};
