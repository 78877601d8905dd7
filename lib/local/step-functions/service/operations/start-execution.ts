/**
 * StartExecution. The start is stored before it is answered. Same name and same input while the first one runs: the
 * same answer; a closed one or another input: `ExecutionAlreadyExists`.
 */

import { jsonSyntaxError } from '../../validate/json-syntax.ts';
import { invalidExecutionInput, validationException } from '../api-error.ts';
import { checkName } from '../arns.ts';
import { type Operation, seconds } from '../context.ts';
import { ARN, readParameters } from '../parameters.ts';
import type { StartRequest } from '../runner.ts';

export const startExecution: Operation = async (context, input) => {
  const request = readParameters(input, {
    stateMachineArn: ARN,
    name: { type: 'string', min: 1, max: 80 },
    input: { type: 'string', maxBytes: 262_144 },
    traceHeader: { type: 'string', max: 256 },
  });
  if (request.name !== undefined) checkName(request.name);
  if (request.stateMachineArn.includes('/')) {
    throw validationException('The state machine ARN must not refer to a Distributed Map state');
  }
  const start: StartRequest = { stateMachineArn: request.stateMachineArn, input: request.input ?? '{}' };
  checkInput(start.input);
  if (request.name !== undefined) start.name = request.name;
  if (request.traceHeader !== undefined) start.traceHeader = request.traceHeader;
  const { executionArn, startDate } = await context.runner.start(start);
  return { executionArn, startDate: seconds(startDate) };
};

function checkInput(text: string): void {
  if (text.trim() === '') throw invalidExecutionInput('Invalid execution input.');
  try {
    JSON.parse(text);
  } catch {
    throw invalidExecutionInput(jsonSyntaxError(text)?.message ?? 'Invalid execution input.');
  }
}
