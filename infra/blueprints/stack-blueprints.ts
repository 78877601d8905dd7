/**
 * The blueprints that ship with the stack: each file a state machine, its published version and its schedules, and one custom
 * resource by which run-events makes them current in the engine's table.
 *
 * A version is a resource whose logical id follows from all that it freezes, so that whatever changes a machine publishes a new
 * one, and none that something may still start is deleted. Schedules wait for the custom resource: what they start must be known.
 *
 * The machines are named `<prefix><id>_stack`. The endpoint makes `<prefix><id>`, and ids have no underscore: so a workflow that an
 * agent has saved can become the stack's under its own id, and CloudFormation never meets a machine that it did not make.
 */
import { createHash } from 'node:crypto';
import { Annotations, CfnDeletionPolicy, CustomResource, Duration, Stack } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnSchedule, type CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { CfnStateMachine, CfnStateMachineVersion } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { BlueprintSchedule } from '../../lib/blueprint/types.ts';
import { compileDocument } from '../../lib/compile/compile.ts';
import {
  SCHEDULE_RETRY_POLICY,
  SCHEDULE_TARGET_ARN,
  SCHEDULE_WINDOW,
  scheduleTargetInput,
} from '../../lib/engine/schedule-target.ts';
import type { StackBlueprint } from '../../lib/engine/stack-blueprints.ts';
import type { StackDocument } from '../../lib/engine/stack-documents.ts';
import { awsScheduleName } from '../../lib/store/schedules.ts';
import { SynthFault } from '../synth-fault.ts';
import { definitionProps, InlineBudget } from './machine-definition.ts';
import { readBlueprints, targetOf } from './read-folder.ts';

export interface StackBlueprintsProps {
  /** Folder with the blueprints. */
  folder: string;
  target: { callToolArn: string; functionTimeoutSeconds: number };
  /** Of machines' names; ends with a hyphen. */
  prefix: string;
  machineRole: IRole;
  /** Of the executions. */
  logGroup: ILogGroup;
  /** Whether execution logs hold inputs and outputs. */
  includeData: boolean;
  /** Default true. */
  tracing?: boolean;
  scheduleGroup: CfnScheduleGroup;
  scheduleRole: IRole;
  runEvents: IFunction;
  /** Longest that run-events takes; CloudFormation gives up a little later. */
  runEventsTimeout: Duration;
  /** For tests: how much of the template definitions may take. */
  inlineBytes?: number;
}

/** Source: Step Functions API reference, CreateStateMachine. */
const MAX_MACHINE_NAME = 80;

/** Name of the machine of a blueprint that the stack owns. */
export function stackMachineName(prefix: string, id: string): string {
  return `${prefix}${id}_stack`;
}

export class StackBlueprints extends Construct {
  constructor(scope: Construct, id: string, props: StackBlueprintsProps) {
    super(scope, id);
    const documents = readBlueprints(props.folder, props.target.functionTimeoutSeconds);
    requireNames(documents, props.prefix);
    const budget = new InlineBudget(props.inlineBytes);
    const made = documents.map((document) => new BlueprintMachine(this, document, props, budget));
    const current = new CustomResource(this, 'Current', {
      resourceType: 'Custom::StackBlueprints',
      serviceToken: props.runEvents.functionArn,
      serviceTimeout: props.runEventsTimeout.plus(Duration.seconds(60)),
      properties: { blueprints: made.map(({ blueprint }) => blueprint) },
    });
    for (const { schedules } of made) for (const schedule of schedules) schedule.node.addDependency(current);
  }
}

/** Machine, version and schedules of one blueprint. The construct's id is the blueprint's, and so the logical ids tell it. */
class BlueprintMachine extends Construct {
  readonly blueprint: StackBlueprint;
  readonly schedules: CfnSchedule[];

  constructor(
    scope: Construct,
    { document, hash, file, warnings }: StackDocument,
    props: StackBlueprintsProps,
    budget: InlineBudget,
  ) {
    const { id } = document.blueprint;
    super(scope, id);
    for (const { code, pointer, message } of warnings) {
      Annotations.of(this).addWarningV2(`mwe:${code}:${pointer}`, `${file}: ${message}`);
    }
    const compiled = compileDocument(document, hash, targetOf(props.target.functionTimeoutSeconds));
    const { props: definition, content } = definitionProps(this, compiled, props.target.callToolArn, budget);
    const settings = {
      stateMachineName: stackMachineName(props.prefix, id),
      stateMachineType: 'STANDARD',
      roleArn: props.machineRole.roleArn,
      loggingConfiguration: {
        level: 'ALL',
        includeExecutionData: props.includeData,
        destinations: [{ cloudWatchLogsLogGroup: { logGroupArn: props.logGroup.logGroupArn } }],
      },
      tracingConfiguration: { enabled: props.tracing ?? true },
    };
    const machine = new CfnStateMachine(this, 'Machine', { ...settings, ...definition });
    // Step Functions looks at what the role may do when it makes the machine.
    machine.node.addDependency(props.machineRole);
    const frozen = JSON.stringify(Stack.of(this).resolve([content, props.target.callToolArn, settings]));
    const version = new CfnStateMachineVersion(this, `Version${digest(hash, frozen)}`, {
      stateMachineArn: machine.attrArn,
      description: hash,
    });
    version.cfnOptions.deletionPolicy = CfnDeletionPolicy.RETAIN;
    version.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
    this.blueprint = { id, hash, stateMachineArn: machine.attrArn, versionArn: version.attrArn };
    const schedules = document.blueprint.schedules ?? [];
    this.schedules = schedules.map((schedule) => this.#schedule(id, schedule, version, props));
  }

  #schedule(
    id: string,
    { name, schedule, timezone = 'UTC', enabled = true }: BlueprintSchedule,
    version: CfnStateMachineVersion,
    props: StackBlueprintsProps,
  ): CfnSchedule {
    const made = new CfnSchedule(this, `Schedule-${name}`, {
      name: awsScheduleName(id, name),
      groupName: props.scheduleGroup.ref,
      description: `${id}: ${name}`,
      scheduleExpression: schedule,
      scheduleExpressionTimezone: timezone,
      state: enabled ? 'ENABLED' : 'DISABLED',
      flexibleTimeWindow: { mode: SCHEDULE_WINDOW.Mode },
      target: {
        arn: SCHEDULE_TARGET_ARN,
        roleArn: props.scheduleRole.roleArn,
        input: scheduleTargetInput(version.attrArn),
        retryPolicy: {
          maximumEventAgeInSeconds: SCHEDULE_RETRY_POLICY.MaximumEventAgeInSeconds,
          maximumRetryAttempts: SCHEDULE_RETRY_POLICY.MaximumRetryAttempts,
        },
      },
    });
    made.node.addDependency(props.scheduleRole);
    return made;
  }
}

function digest(hash: string, frozen: string): string {
  return createHash('sha256').update(`${hash}\n${frozen}`).digest('hex').slice(0, 16);
}

function requireNames(documents: readonly StackDocument[], prefix: string): void {
  const faults = documents.flatMap(({ file, id }) => {
    const name = stackMachineName(prefix, id);
    if (name.length <= MAX_MACHINE_NAME) return [];
    return [
      `${file}: its state machine would be named "${name}", which has ${name.length} characters, and ${MAX_MACHINE_NAME} are allowed; choose a shorter id or prefix`,
    ];
  });
  if (faults.length > 0) throw new SynthFault('blueprints that cannot be deployed:', faults);
}
