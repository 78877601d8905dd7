/** What steps ask of Step Functions, over its API. */
import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  ExecutionNotRedrivable,
  RedriveExecutionCommand,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import type { ExecutionState, Executions } from './environment.ts';

export function createExecutions(sfn: SFNClient): Executions {
  return {
    async describe(executionArn) {
      try {
        const { status } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
        return status === undefined ? undefined : { status: status as ExecutionState['status'] };
      } catch (error) {
        if (error instanceof ExecutionDoesNotExist) return undefined;
        throw error;
      }
    },
    async redrive(executionArn) {
      try {
        await sfn.send(new RedriveExecutionCommand({ executionArn }));
        return true;
      } catch (error) {
        if (error instanceof ExecutionNotRedrivable) return false;
        throw error;
      }
    },
  };
}

/** ARN of an execution by its machine's (or version's) ARN and its name. */
export function executionArnOf(stateMachineArn: string, name: string): string {
  const [arn, partition, service, region, account, , machine] = stateMachineArn.split(':');
  return [arn, partition, service, region, account, 'execution', machine, name].join(':');
}
