/**
 * Names that must be known before the thing they name, or must stay for ever, and the ARN patterns that rights are given for.
 *
 * Functions and the machines' role have fixed names, since machines that were made at run time and their published versions
 * hold the ARNs for ever. Table, bucket and secrets have none: CloudFormation's own can be replaced and never collide with what
 * an earlier stack left. Roles are global to an account, so theirs have the region in them.
 */
import { Aws, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

export type FunctionName = 'mcp-endpoint' | 'call-tool' | 'run-events';

/** `mwe` → `mwe-`; a prefix has no hyphen, so this begins the machines of no other deployment. */
export function machinePrefix(prefix: string): string {
  return `${prefix}-`;
}

export function functionName(prefix: string, name: FunctionName): string {
  return `${prefix}-${name}`;
}

export function roleName(prefix: string, name: string): string {
  return `${prefix}-${name}-${Aws.REGION}`;
}

/** Log group of all executions. CloudWatch's own prefix keeps the log delivery's resource policy from growing. */
export function executionLogName(prefix: string): string {
  return `/aws/vendedlogs/states/${prefix}`;
}

export function scheduleGroupName(prefix: string): string {
  return `${prefix}-schedules`;
}

/** ARN patterns of one deployment. */
export interface Arns {
  /** Machines, their versions, and the labels of distributed maps in them. */
  machines: string;
  /** Executions of these, and of the children of distributed maps. */
  executions: string;
  /** Children of distributed maps alone: `…:execution:mwe-sync/rows:UUID`. */
  mapChildren: string;
  /** What `machines` is in an event: everything before the workflow's id. */
  machinePrefix: string;
  scheduleGroup: string;
  /** Schedules of the group. */
  schedules: string;
  /** The rule by which Step Functions learns that a child execution has ended (`.sync:2`). */
  syncRule: string;
}

/** Source: Service Authorization Reference of Step Functions, EventBridge and EventBridge Scheduler. */
export function arnsOf(scope: Construct, prefix: string): Arns {
  const stack = Stack.of(scope);
  const states = (type: string, name: string) =>
    `arn:${stack.partition}:states:${stack.region}:${stack.account}:${type}:${name}`;
  const arn = (service: string, resource: string) =>
    `arn:${stack.partition}:${service}:${stack.region}:${stack.account}:${resource}`;
  const machine = machinePrefix(prefix);
  return {
    machines: states('stateMachine', `${machine}*`),
    executions: states('execution', `${machine}*`),
    mapChildren: states('execution', `${machine}*/*`),
    machinePrefix: states('stateMachine', machine),
    scheduleGroup: arn('scheduler', `schedule-group/${scheduleGroupName(prefix)}`),
    schedules: arn('scheduler', `schedule/${scheduleGroupName(prefix)}/*`),
    syncRule: arn('events', 'rule/StepFunctionsGetEventsForStepFunctionsExecutionRule'),
  };
}
