/** What an operator sees at a glance: runs and why they fail, downstream calls, requests, and the functions under them. */
import { GraphWidget, type IMetric, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { EngineFunction } from './engine-function.ts';
import { type EngineMetrics, PERIOD } from './engine-metrics.ts';
import type { MonitoringProps } from './monitoring.ts';

/** Three graphs a row. */
export function dashboardWidgets(metrics: EngineMetrics, props: MonitoringProps): GraphWidget[][] {
  const each = (metric: (fn: EngineFunction['function']) => Metric) =>
    Object.entries(props.functions).map(([name, fn]) => metric(fn.function).with({ label: name }));
  const outcomes = (name: 'toolCalls' | 'requests', ...values: string[]) =>
    values.map((outcome) => metrics.own(name, { outcome }).with({ label: outcome }));
  const times = (name: 'toolCallLatency' | 'requestLatency', dimensions: Record<string, string>) =>
    ['p50', 'p99'].map((statistic) => metrics.own(name, dimensions, statistic).with({ label: statistic }));
  const options = { period: PERIOD };
  return [
    [
      graph(
        'Runs that ended',
        ...['SUCCEEDED', 'FAILED', 'CANCELLED', 'TIMED_OUT'].map((s) => metrics.runs(s)),
      ),
      graph('Failures by kind', metrics.failuresByKind()),
      graph('Executions that failed, by machine', metrics.failedExecutions()),
    ],
    [
      graph('Calls of downstream tools', ...outcomes('toolCalls', 'succeeded', 'failed')),
      graph('Time of downstream calls (ms)', ...times('toolCallLatency', { outcome: 'succeeded' })),
      graph("Agents' requests", ...outcomes('requests', 'succeeded', 'refused', 'failed')),
    ],
    [
      graph('Time of requests (ms)', ...times('requestLatency', {})),
      graph('Function errors', ...each((fn) => fn.metricErrors(options))),
      graph('Function throttles', ...each((fn) => fn.metricThrottles(options))),
    ],
    [
      graph('Function time (ms, p99)', ...each((fn) => fn.metricDuration({ ...options, statistic: 'p99' }))),
      graph(
        'Failed events and schedules',
        props.failedEvents.metricApproximateNumberOfMessagesVisible({ ...options, label: 'failed events' }),
        metrics.schedules('InvocationDroppedCount').with({ label: 'dropped schedules' }),
        metrics.schedules('TargetErrorCount').with({ label: 'schedule errors' }),
      ),
      graph(
        'Table requests refused',
        tableMetric(props.tableName, 'ReadThrottleEvents'),
        tableMetric(props.tableName, 'WriteThrottleEvents'),
      ),
    ],
  ];
}

function graph(title: string, ...left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: 8 });
}

function tableMetric(tableName: string, metricName: string): Metric {
  const dimensionsMap = { TableName: tableName };
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap,
    statistic: 'Sum',
    period: PERIOD,
  });
}
