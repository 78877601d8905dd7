/**
 * What Step Functions does in the name of a state machine's role. The stand-in tells of each; there is no HTTP request.
 *
 * A nested execution that is waited for (`.sync:2`) needs more than its start: Step Functions hears of its end by a managed
 * EventBridge rule, and looks at it and stops it by itself. It needs these rights when it sets the rule up, so all are asked for.
 * Sources: Step Functions developer guide, "IAM policies for AWS Step Functions" (synchronous nested workflows) and "IAM
 * policies for using Distributed Map states".
 */
import type { RoleUse } from '../../lib/local/step-functions/contract.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import type { Needed } from './needed.ts';
import { functionArn } from './paths.ts';
import { onMachine } from './targets.ts';

export const MANAGED_RULE_ACTIONS = ['events:PutRule', 'events:PutTargets', 'events:DescribeRule'];
export const MANAGED_RULE = `arn:aws:events:${LOCAL_REGION}:${LOCAL_ACCOUNT}:rule/StepFunctionsGetEventsForStepFunctionsExecutionRule`;

export function machineNeeds(call: RoleUse): Needed[] {
  switch (call.kind) {
    case 'invoke':
      return [{ action: 'lambda:InvokeFunction', resource: functionArn(call.functionName), context: {} }];
    case 'nested':
      return [
        onMachine('states:StartExecution', call.stateMachineArn),
        ...onExecution(call.executionArn, ['DescribeExecution', 'StopExecution']),
        ...MANAGED_RULE_ACTIONS.map((action): Needed => ({ action, resource: MANAGED_RULE, context: {} })),
      ];
    case 'mapChild': {
      // mapRun:MACHINE/LABEL:UUID belongs to stateMachine:MACHINE.
      const machine = call.mapRunArn.split(':')[6]?.split('/')[0] ?? '';
      const start: Needed = onMachine(
        'states:StartExecution',
        `arn:aws:states:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stateMachine:${machine}`,
      );
      return call.redriven ? onExecution(call.executionArn, ['RedriveExecution']) : [start];
    }
  }
}

function onExecution(arn: string, actions: readonly string[]): Needed[] {
  return actions.map((action) => ({ action: `states:${action}`, resource: arn, context: {} }));
}
