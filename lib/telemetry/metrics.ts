/**
 * Metrics in the Embedded Metric Format: lines on stdout that CloudWatch reads as metrics. They are gathered in memory and
 * written at the end of an invocation, counts added up, latencies value by value, a hundred to a line; what writes them is
 * loaded then, so that no answer waits for it.
 *
 * What always holds: names are those of metric-names.ts, and each combination of dimensions has a writer of its own, so no
 * line mixes two.
 */
import type { Metrics } from '@aws-lambda-powertools/metrics';
import { METRICS, NAMESPACE, SERVICE } from './metric-names.ts';
import type { Telemetry } from './telemetry.ts';

type Dimensions = Readonly<Record<string, string>>;
type Name = (typeof METRICS)[keyof typeof METRICS];

/** One combination of dimensions, since the last flush. */
interface Series {
  dimensions: Dimensions;
  counts: Map<Name, number>;
  /** Milliseconds. */
  latencies: Map<Name, number[]>;
  writer?: Metrics;
}

export interface MetricsWriter extends Pick<Telemetry, 'runEnded' | 'failure' | 'toolCall' | 'request'> {
  /** Writes what was gathered. At the end of each invocation. */
  flush(): Promise<void>;
}

export function createMetrics(): MetricsWriter {
  const all = new Map<string, Series>();

  function seriesOf(dimensions: Dimensions): Series {
    const key = JSON.stringify(dimensions);
    const series = all.get(key) ?? { dimensions, counts: new Map(), latencies: new Map() };
    all.set(key, series);
    return series;
  }

  function count(name: Name, dimensions: Dimensions): void {
    const { counts } = seriesOf(dimensions);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  function took(name: Name, dimensions: Dimensions, ms: number): void {
    const { latencies } = seriesOf(dimensions);
    const known = latencies.get(name);
    if (known === undefined) latencies.set(name, [ms]);
    else known.push(ms);
  }

  return {
    runEnded(status, trigger) {
      // What an agent tries is no workflow's run: no alarm counts it.
      if (trigger !== 'try') count(METRICS.runs, { status });
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
    async flush() {
      const told = [...all.values()].filter(({ counts, latencies }) => counts.size + latencies.size > 0);
      if (told.length > 0) await write(told);
    },
  };
}

async function write(told: readonly Series[]): Promise<void> {
  const { Metrics, MetricUnit } = await import('@aws-lambda-powertools/metrics');
  for (const series of told) {
    const { counts, latencies, dimensions } = series;
    series.writer ??= new Metrics({
      namespace: NAMESPACE,
      serviceName: process.env.POWERTOOLS_SERVICE_NAME ?? SERVICE,
      defaultDimensions: { ...dimensions },
    });
    for (const [name, sum] of counts) series.writer.addMetric(name, MetricUnit.Count, sum);
    for (const [name, values] of latencies) {
      // It writes a line by itself whenever it has a hundred.
      for (const ms of values) series.writer.addMetric(name, MetricUnit.Milliseconds, ms);
    }
    counts.clear();
    latencies.clear();
    if (series.writer.hasStoredMetrics()) series.writer.publishStoredMetrics();
  }
}
