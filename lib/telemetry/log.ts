/**
 * Structured logs: one JSON object a line on stdout. What the engine says of an event stands under `data` and nowhere else, so
 * that no value from outside can take the place of a field of the log's own, or make a line that reads as a metric.
 *
 * What writes them is loaded by the first line: most requests have none.
 */
import type { Logger } from '@aws-lambda-powertools/logger';
import type { LogEntry } from './telemetry.ts';

/** Of Lambda's context object, what a log line names its invocation by. */
export interface LoggedContext {
  awsRequestId: string;
}

export interface Log {
  write(entry: LogEntry): void;
  /** From here on lines belong to this invocation. */
  begin(context: LoggedContext): void;
  /** Waits until everything is written. */
  flush(): Promise<void>;
}

/** Level by `POWERTOOLS_LOG_LEVEL` (default INFO), name of the service by `POWERTOOLS_SERVICE_NAME`. */
export function createLog(): Log {
  let logger: Logger | undefined;
  let loading: Promise<void> | undefined;
  let requestId: string | undefined;
  const waiting: LogEntry[] = [];

  async function load(): Promise<void> {
    const { Logger } = await import('@aws-lambda-powertools/logger');
    logger = new Logger();
    if (requestId !== undefined) logger.appendKeys({ function_request_id: requestId });
    for (const entry of waiting.splice(0)) writeLine(logger, entry);
  }

  return {
    write(entry) {
      if (logger !== undefined) writeLine(logger, entry);
      else {
        waiting.push(entry);
        loading ??= load();
      }
    },
    begin({ awsRequestId }) {
      requestId = awsRequestId;
      logger?.appendKeys({ function_request_id: awsRequestId });
    },
    async flush() {
      await loading;
    },
  };
}

function writeLine(logger: Logger, { level, event, message, ...data }: LogEntry): void {
  const text = String(event ?? message ?? 'log');
  const fields = { data: event === undefined || message === undefined ? data : { message, ...data } };
  switch (level) {
    case 'error':
      logger.error(text, fields);
      break;
    case 'warn':
      logger.warn(text, fields);
      break;
    default:
      logger.info(text, fields);
  }
}
