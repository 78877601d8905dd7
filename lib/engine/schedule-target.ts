/**
 * What a schedule of ours does when it fires, the same for those that agents make and those that the stack makes. Pure: the stack
 * takes it from here at synth.
 *
 * The target is Scheduler's universal one, so that the execution gets a name: the id of the delivery, which ` begin` compares with
 * the input's, and so tells a delivery from an old input that somebody starts again. The parameters are not in it; they stand in
 * the schedule's record.
 * Sources: EventBridge Scheduler user guide, "Using universal targets" and "Adding context attributes".
 */
export const SCHEDULE_TARGET_ARN = 'arn:aws:scheduler:::aws-sdk:sfn:startExecution';

/**
 * A delivery fails only where StartExecution is throttled or Step Functions is down. Three more tries get past the one; past an hour
 * a late start is worth less than the next occurrence (the defaults, a day and 185 tries, would start what nobody waits for any more).
 */
export const SCHEDULE_RETRY_POLICY = { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 3 } as const;

/** No spreading: an occurrence comes when its author said. */
export const SCHEDULE_WINDOW = { Mode: 'OFF' } as const;

/** Input of an execution that a schedule starts, before Scheduler has put in what it knows. */
const EXECUTION_INPUT = {
  schedule: {
    arn: '<aws.scheduler.schedule-arn>',
    time: '<aws.scheduler.scheduled-time>',
    execution: '<aws.scheduler.execution-id>',
  },
} as const;

/** Input of the target: StartExecution of the version that the schedule is pinned to. */
export function scheduleTargetInput(versionArn: string): string {
  return JSON.stringify({
    StateMachineArn: versionArn,
    Name: '<aws.scheduler.execution-id>',
    Input: JSON.stringify(EXECUTION_INPUT),
  });
}

/**
 * What a schedule made by hand must carry as its target's input: the same, and its parameters, for it has no record. The stack
 * tells it in an output.
 */
export function handMadeTargetInput(machineArn: string): string {
  return JSON.stringify({
    StateMachineArn: machineArn,
    Name: '<aws.scheduler.execution-id>',
    Input: JSON.stringify({ ...EXECUTION_INPUT, params: {} }),
  });
}

/** A one-time schedule is gone from Scheduler once it has fired; any other stays. */
export function actionAfterCompletion(expression: string): 'DELETE' | 'NONE' {
  return expression.startsWith('at(') ? 'DELETE' : 'NONE';
}
