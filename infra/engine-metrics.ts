/** The metrics that are looked at: those that the functions write (lib/telemetry) and those of Scheduler, of one deployment. */
import { Duration } from 'aws-cdk-lib';
import { Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS, NAMESPACE } from '../lib/telemetry/metric-names.ts';
import { scheduleGroupName } from './names.ts';

export const PERIOD = Duration.minutes(5);

type OwnName = keyof typeof METRICS;

export class EngineMetrics {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** A metric that the functions write, by one of its sets of dimensions. */
  own(name: OwnName, dimensions: Record<string, string>, statistic = 'Sum'): Metric {
    return new Metric({
      namespace: NAMESPACE,
      metricName: METRICS[name],
      dimensionsMap: { service: this.#prefix, ...dimensions },
      statistic,
      period: PERIOD,
    });
  }

  /** Runs that ended so. */
  runs(status: string): Metric {
    return this.own('runs', { status }).with({ label: status });
  }

  /** Steps and items that failed, by kind, whichever kinds there are. */
  failuresByKind(): SearchExpression {
    const term = `{${NAMESPACE},service,kind} MetricName="${METRICS.failures}" service="${this.#prefix}"`;
    return search(term);
  }

  /** Of each machine; a word of its ARN is the prefix. */
  failedExecutions(): SearchExpression {
    return search(`{AWS/States,StateMachineArn} MetricName="ExecutionsFailed" ${this.#prefix}`);
  }

  /** Source: EventBridge Scheduler user guide, "Monitoring with CloudWatch". */
  schedules(metricName: 'InvocationDroppedCount' | 'TargetErrorCount'): Metric {
    return new Metric({
      namespace: 'AWS/Scheduler',
      metricName,
      dimensionsMap: { ScheduleGroup: scheduleGroupName(this.#prefix) },
      statistic: 'Sum',
      period: PERIOD,
    });
  }
}

/** Sums of all metrics that a term finds. Source: CloudWatch user guide, "Search expression syntax". */
function search(term: string): SearchExpression {
  return new SearchExpression({ expression: `SEARCH('${term}', 'Sum')`, label: ' ', period: PERIOD });
}
