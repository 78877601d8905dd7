/** The telemetry of a function on AWS: logs and metrics on stdout, traces to the X-Ray daemon. */
import { createLog, type LoggedContext } from './log.ts';
import { createMetrics } from './metrics.ts';
import type { LogEntry, Telemetry } from './telemetry.ts';
import { createTracer } from './trace.ts';

export interface AwsTelemetry {
  telemetry: Telemetry;
  log(entry: LogEntry): void;
  /** Runs one invocation: its log lines name it, and when it has ended nothing that it told is left in the process. */
  during<T>(context: LoggedContext, work: () => Promise<T>): Promise<T>;
}

export function createAwsTelemetry(): AwsTelemetry {
  const metrics = createMetrics();
  const tracer = createTracer();
  const log = createLog();
  const { runEnded, failure, toolCall, request } = metrics;
  const { span, traceHeader } = tracer;
  return {
    telemetry: { runEnded, failure, toolCall, request, span, traceHeader },
    log: (entry) => log.write(entry),
    async during(context, work) {
      log.begin(context);
      try {
        return await work();
      } finally {
        await Promise.all([metrics.flush(), tracer.flush(), log.flush()]);
      }
    },
  };
}
