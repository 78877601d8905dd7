/**
 * The dashboard and the alarms. An alarm is a thing that somebody should look at: a run failed, a request failed by a fault of
 * ours, a function failed or was throttled, an event or a schedule was given up.
 *
 * call-tool has no alarm of its errors: a step that fails under `abort` is told to Step Functions as the function's error, and
 * so is a task that waits for another's lease. What goes wrong there for good is a failed run.
 */
import { Aws } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { dashboardWidgets } from './dashboard.ts';
import type { EngineFunction } from './engine-function.ts';
import { EngineMetrics, PERIOD } from './engine-metrics.ts';
import type { FunctionName } from './names.ts';

export interface MonitoringProps {
  prefix: string;
  functions: Readonly<Record<FunctionName, EngineFunction>>;
  failedEvents: Queue;
  tableName: string;
  alarmTopicArn: string | undefined;
}

export class Monitoring extends Construct {
  readonly dashboardName: string;
  readonly #prefix: string;
  readonly #topic: SnsAction | undefined;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { alarmTopicArn } = props;
    this.#prefix = props.prefix;
    this.#topic =
      alarmTopicArn === undefined
        ? undefined
        : new SnsAction(Topic.fromTopicArn(this, 'Topic', alarmTopicArn));
    const metrics = new EngineMetrics(props.prefix);
    this.#alarms(metrics, props);
    // Dashboards are global to an account.
    this.dashboardName = `${props.prefix}-${Aws.REGION}`;
    new Dashboard(this, 'Dashboard', {
      dashboardName: this.dashboardName,
      widgets: dashboardWidgets(metrics, props),
    });
  }

  #alarms(metrics: EngineMetrics, { functions, failedEvents }: MonitoringProps): void {
    this.#alarm(
      'RunsFailed',
      'Runs failed or ran out of time: see list_runs with status FAILED, or the executions in the Step Functions console',
      new MathExpression({
        // What has no data is nothing; a sum with it would have none either.
        expression: 'FILL(failed, 0) + FILL(timedOut, 0)',
        usingMetrics: { failed: metrics.runs('FAILED'), timedOut: metrics.runs('TIMED_OUT') },
        label: 'failed runs',
        period: PERIOD,
      }),
    );
    this.#alarm(
      'RequestsFailed',
      "Requests of agents failed by a fault that is not theirs: see the endpoint's log",
      metrics.own('requests', { outcome: 'failed' }),
    );
    for (const name of ['mcp-endpoint', 'run-events'] as const) {
      const alarm = name === 'mcp-endpoint' ? 'EndpointErrors' : 'RunEventsErrors';
      const metric = functions[name].function.metricErrors({ period: PERIOD, statistic: 'Sum' });
      this.#alarm(alarm, `The function ${name} ended with an error: see its log`, metric);
    }
    for (const [name, alarm] of [
      ['mcp-endpoint', 'EndpointThrottles'],
      ['call-tool', 'CallToolThrottles'],
      ['run-events', 'RunEventsThrottles'],
    ] as const) {
      const metric = functions[name].function.metricThrottles({ period: PERIOD, statistic: 'Sum' });
      this.#alarm(
        alarm,
        `The function ${name} had no free execution: raise the account's or its own concurrency, or start fewer runs at once`,
        metric,
      );
    }
    this.#alarm(
      'EventsFailed',
      "The queue of failed events is not empty: their runs are closed by the sweep; see run-events' log",
      failedEvents.metricApproximateNumberOfMessagesVisible({ period: PERIOD, statistic: 'Maximum' }),
    );
    this.#alarm(
      'SchedulesDropped',
      'EventBridge Scheduler gave up starting a workflow: see the schedule and its role',
      metrics.schedules('InvocationDroppedCount'),
    );
  }

  /** One occurrence in five minutes is enough. */
  #alarm(id: string, alarmDescription: string, metric: IMetric): void {
    const alarm = new Alarm(this, id, {
      alarmName: `${this.#prefix}-${id}`,
      alarmDescription,
      metric,
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (this.#topic !== undefined) alarm.addAlarmAction(this.#topic);
  }
}
