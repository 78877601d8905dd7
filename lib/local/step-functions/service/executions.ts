/** An execution by its ARN, for the operations that are given one. */
import { executionDoesNotExist } from './api-error.ts';
import { checkExecutionArn } from './arns.ts';
import type { ServiceContext } from './context.ts';
import type { ExecutionRecord } from './storage/executions.ts';

/** Throws `InvalidArn` or `ExecutionDoesNotExist`. */
export async function loadExecution(context: ServiceContext, arn: string): Promise<ExecutionRecord> {
  checkExecutionArn(arn);
  const record = await context.executions.load(arn);
  if (record === undefined) throw executionDoesNotExist(arn);
  return record;
}
