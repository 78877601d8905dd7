/**
 * Metrics in the Embedded Metric Format: lines on stdout that CloudWatch reads as metrics. Counts are added up and written
 * once an invocation; latencies are written value by value, a hundred to a line.
 *
 * What always holds: names are those of metric-names.ts, and each combination of dimensions has a writer of its own, so no
 * line mixes two.
 */
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRICS, NAMESPACE, SERVICE } from './metric-names.ts';
import type { Telemetry } from './telemetry.ts';

type Dimensions = Readonly<Record<string, string>>;
type Name = (typeof METRICS)[keyof typeof METRICS];

/** One combination of dimensions. */
interface Series {
  writer: Metrics;
  counts: Map<Name, number>;
}

export interface MetricsWriter extends Pick<Telemetry, 'runEnded' | 'failure' | 'toolCall' | 'request'> {
  /** Writes what was counted. At the end of each invocation. */
  flush(): void;
}

export function createMetrics(): MetricsWriter {
  const all = new Map<string, Series>();

  function seriesOf(dimensions: Dimensions): Series {
    const key = JSON.stringify(dimensions);
    let series = all.get(key);
    if (series === undefined) {
      const writer = new Metrics({
        namespace: NAMESPACE,
        serviceName: process.env.POWERTOOLS_SERVICE_NAME ?? SERVICE,
        defaultDimensions: { ...dimensions },
      });
      series = { writer, counts: new Map() };
      all.set(key, series);
    }
    return series;
  }

  function count(name: Name, dimensions: Dimensions): void {
    const { counts } = seriesOf(dimensions);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  function took(name: Name, dimensions: Dimensions, ms: number): void {
    seriesOf(dimensions).writer.addMetric(name, MetricUnit.Milliseconds, ms);
  }

  return {
    runEnded(status, trigger) {
      count(METRICS.runs, { status });
      count(METRICS.runs, { status, trigger });
    },
    failure(kind) {
      count(METRICS.failures, { kind });
    },
    toolCall(outcome, ms) {
      count(METRICS.toolCalls, { outcome });
      took(METRICS.toolCallLatency, { outcome }, ms);
    },
    request(tool, outcome, ms) {
      count(METRICS.requests, { outcome });
      count(METRICS.requests, { tool, outcome });
      took(METRICS.requestLatency, {}, ms);
      took(METRICS.requestLatency, { tool }, ms);
    },
    flush() {
      for (const { writer, counts } of all.values()) {
        for (const [name, sum] of counts) writer.addMetric(name, MetricUnit.Count, sum);
        counts.clear();
        if (writer.hasStoredMetrics()) writer.publishStoredMetrics();
      }
    },
  };
}
