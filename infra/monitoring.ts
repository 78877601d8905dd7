/**
 * The dashboard and the alarms. An alarm is a thing that somebody should look at: a run failed, a request failed by a fault of
 * ours, a function failed or was throttled, an event or a schedule was given up.
 *
 * call-tool has no alarm of its errors: a step that fails under `abort` is told to Step Functions as the function's error, and
 * so is a task that waits for another's lease. What goes wrong there for good is a failed run.
 */
import { Aws, Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  SearchExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { METRICS, NAMESPACE, SERVICE } from '../lib/telemetry/metric-names.ts';
import type { EngineFunction } from './engine-function.ts';
import type { FunctionName } from './names.ts';

const PERIOD = Duration.minutes(5);

export interface MonitoringProps {
  prefix: string;
  functions: Readonly<Record<FunctionName, EngineFunction>>;
  failedEvents: Queue;
  scheduleGroupName: string;
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
    this.#alarms(props);
    // Dashboards are global to an account.
    this.dashboardName = `${props.prefix}-${Aws.REGION}`;
    new Dashboard(this, 'Dashboard', { dashboardName: this.dashboardName, widgets: widgets(props) });
  }

  #alarms({ functions, failedEvents, scheduleGroupName }: MonitoringProps): void {
    this.#alarm(
      'RunsFailed',
      'Runs failed or ran out of time: see list_runs with status FAILED, or the executions in the Step Functions console',
      new MathExpression({
        // What has no data is nothing; a sum with it would have none either.
        expression: 'FILL(failed, 0) + FILL(timedOut, 0)',
        usingMetrics: { failed: runs('FAILED'), timedOut: runs('TIMED_OUT') },
        label: 'failed runs',
        period: PERIOD,
      }),
    );
    this.#alarm(
      'RequestsFailed',
      "Requests of agents failed by a fault that is not theirs: see the endpoint's log",
      own(METRICS.requests, { outcome: 'failed' }),
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
      schedules('InvocationDroppedCount', scheduleGroupName),
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

/** A metric that the functions write. */
function own(metricName: string, dimensions: Record<string, string>, statistic = 'Sum'): Metric {
  const dimensionsMap = { service: SERVICE, ...dimensions };
  return new Metric({ namespace: NAMESPACE, metricName, dimensionsMap, statistic, period: PERIOD });
}

function runs(status: string): Metric {
  return own(METRICS.runs, { status }).with({ label: status });
}

function schedules(metricName: string, group: string): Metric {
  const dimensionsMap = { ScheduleGroup: group };
  return new Metric({
    namespace: 'AWS/Scheduler',
    metricName,
    dimensionsMap,
    statistic: 'Sum',
    period: PERIOD,
  });
}

/** Sums of all metrics that a term finds. Source: CloudWatch user guide, "Search expression syntax". */
function search(term: string): SearchExpression {
  return new SearchExpression({ expression: `SEARCH('${term}', 'Sum')`, label: ' ', period: PERIOD });
}

function widgets({ prefix, functions, failedEvents, scheduleGroupName, tableName }: MonitoringProps) {
  const graph = (title: string, ...left: IMetric[]) => new GraphWidget({ title, left, width: 8 });
  const each = (metric: (fn: EngineFunction['function']) => Metric) =>
    Object.entries(functions).map(([name, fn]) => metric(fn.function).with({ label: name }));
  const options = { period: PERIOD };
  return [
    [
      graph('Runs that ended', ...['SUCCEEDED', 'FAILED', 'CANCELLED', 'TIMED_OUT'].map(runs)),
      graph('Failures by kind', search(`{${NAMESPACE},service,kind} MetricName="${METRICS.failures}"`)),
      graph(
        'Executions that failed, by machine',
        // A word of the machine's ARN: names begin with the prefix and a hyphen.
        search(`{AWS/States,StateMachineArn} MetricName="ExecutionsFailed" ${prefix}`),
      ),
    ],
    [
      graph(
        'Calls of downstream tools',
        ...['succeeded', 'failed'].map((outcome) =>
          own(METRICS.toolCalls, { outcome }).with({ label: outcome }),
        ),
      ),
      graph(
        'Time of downstream calls (ms)',
        ...['p50', 'p99'].map((p) =>
          own(METRICS.toolCallLatency, { outcome: 'succeeded' }, p).with({ label: p }),
        ),
      ),
      graph(
        "Agents' requests",
        ...['succeeded', 'refused', 'failed'].map((outcome) =>
          own(METRICS.requests, { outcome }).with({ label: outcome }),
        ),
      ),
    ],
    [
      graph(
        'Time of requests (ms)',
        ...['p50', 'p99'].map((p) => own(METRICS.requestLatency, {}, p).with({ label: p })),
      ),
      graph('Function errors', ...each((fn) => fn.metricErrors(options))),
      graph('Function throttles', ...each((fn) => fn.metricThrottles(options))),
    ],
    [
      graph('Function time (ms, p99)', ...each((fn) => fn.metricDuration({ ...options, statistic: 'p99' }))),
      graph(
        'Failed events and schedules',
        failedEvents.metricApproximateNumberOfMessagesVisible({ ...options, label: 'failed events' }),
        schedules('InvocationDroppedCount', scheduleGroupName).with({ label: 'dropped schedules' }),
        schedules('TargetErrorCount', scheduleGroupName).with({ label: 'schedule errors' }),
      ),
      graph(
        'Table requests refused',
        ...['ReadThrottleEvents', 'WriteThrottleEvents'].map(
          (metricName) =>
            new Metric({
              namespace: 'AWS/DynamoDB',
              metricName,
              dimensionsMap: { TableName: tableName },
              statistic: 'Sum',
              period: PERIOD,
            }),
        ),
      ),
    ],
  ];
}
