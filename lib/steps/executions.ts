/** What steps ask of Step Functions, over its API. Only sub-workflows ask, so its code is loaded when one does. */
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { Sender } from '../store/lazy-client.ts';
import type { ExecutionState, Executions } from './environment.ts';

export function createExecutions(sfn: Sender<SFNClient>): Executions {
  return {
    async describe(executionArn) {
      const { DescribeExecutionCommand, ExecutionDoesNotExist } = await import('@aws-sdk/client-sfn');
      try {
        const { status } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
        return status === undefined ? undefined : { status: status as ExecutionState['status'] };
      } catch (error) {
        if (error instanceof ExecutionDoesNotExist) return undefined;
        throw error;
      }
    },
    async redrive(executionArn) {
      const { ExecutionNotRedrivable, RedriveExecutionCommand } = await import('@aws-sdk/client-sfn');
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
