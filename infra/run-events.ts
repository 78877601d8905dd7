/**
 * run-events: follows executions by their status events, sweeps open runs by a timer, and answers CloudFormation for the
 * blueprints that the stack owns. What it could not work on ends in a queue, where an alarm looks.
 */
import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { CfnEventInvokeConfig } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge, acknowledgeWildcards } from './acknowledge.ts';
import type { EngineBucket } from './engine-bucket.ts';
import { EngineFunction, type FunctionSetting } from './engine-function.ts';
import type { EngineTable } from './engine-table.ts';
import type { Arns } from './names.ts';
import type { EngineProps } from './props.ts';
import type { Schedules } from './schedules.ts';

const SWEEP_MINUTES = 5;
/** An event that is this old says nothing that the sweep has not seen. */
const MAX_EVENT_AGE = Duration.hours(1);

export interface RunEventsProps {
  setting: FunctionSetting;
  asset: string;
  props: EngineProps;
  arns: Arns;
  table: EngineTable;
  bucket: EngineBucket;
  schedules: Schedules;
}

export class RunEvents extends Construct {
  readonly function: EngineFunction;
  /** Events that could not be delivered, and those that the function failed on. */
  readonly failed: Queue;

  constructor(scope: Construct, id: string, options: RunEventsProps) {
    super(scope, id);
    const { setting, asset, props } = options;
    this.function = new EngineFunction(this, 'Function', {
      setting,
      name: 'run-events',
      description: 'Keeps run records true to their executions, and the blueprints of the stack published',
      asset,
      size: props.functions.runEvents,
      timeout: Duration.seconds(props.functions.runEvents.timeoutSeconds),
      environment: {},
    });
    this.failed = new Queue(this, 'Failed', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(this.failed, 'This is the dead-letter queue; it has none itself.', 'AwsSolutions-SQS3');
    this.#grant(options);
    this.#listen(setting.prefix, options.arns);
  }

  #grant({ table, bucket, arns, schedules }: RunEventsProps): void {
    const { function: own } = this;
    table.grant(own.role, ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'Query'], ['open-runs']);
    bucket.grant(own.role, { read: [], write: ['documents'] });
    own.allow('KeepFailedEvents', ['sqs:SendMessage'], this.failed.queueArn);
    own.allow('FollowRuns', ['states:DescribeExecution'], arns.executions);
    // Switched off after failures in a row; deleted where a workflow of an agent's becomes the stack's.
    own.allow(
      'KeepSchedules',
      ['scheduler:GetSchedule', 'scheduler:UpdateSchedule', 'scheduler:DeleteSchedule'],
      arns.schedules,
    );
    own.allowPassRole('SchedulesRole', schedules.role.roleArn, 'scheduler.amazonaws.com');
    acknowledgeWildcards(
      own.role,
      "Executions and schedules are made at run time under this deployment's prefix, which no other deployment shares.",
      arns.executions,
      arns.schedules,
    );
  }

  #listen(prefix: string, arns: Arns): void {
    const target = this.function.function;
    new CfnEventInvokeConfig(this, 'Retries', {
      functionName: target.functionName,
      qualifier: '$LATEST',
      maximumEventAgeInSeconds: MAX_EVENT_AGE.toSeconds(),
      maximumRetryAttempts: 2,
      destinationConfig: { onFailure: { destination: this.failed.queueArn } },
    });
    new Rule(this, 'StatusChange', {
      ruleName: `${prefix}-status-change`,
      description: 'Executions of the workflow engine start, are redriven and end',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: {
          stateMachineArn: [{ prefix: arns.machinePrefix }],
          // Not the children of distributed maps (`…:execution:mwe-sync/rows:UUID`): a run is its parent, and there may be thousands.
          executionArn: [{ 'anything-but': { wildcard: '*/*' } }],
        },
      },
      targets: [
        new LambdaFunction(target, {
          deadLetterQueue: this.failed,
          maxEventAge: MAX_EVENT_AGE,
          retryAttempts: 8,
        }),
      ],
    });
    new Rule(this, 'Sweep', {
      ruleName: `${prefix}-sweep`,
      description: 'Closes runs of the workflow engine whose end no event told of',
      schedule: Schedule.rate(Duration.minutes(SWEEP_MINUTES)),
      // The next one comes soon, and does what this one did not.
      targets: [
        new LambdaFunction(target, { retryAttempts: 0, maxEventAge: Duration.minutes(SWEEP_MINUTES) }),
      ],
    });
  }
}
