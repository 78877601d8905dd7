/**
 * Structured logs: one JSON object a line on stdout. What the engine says of an event stands under `data` and nowhere else, so
 * that no value from outside can take the place of a field of the log's own, or make a line that reads as a metric.
 */
import { Logger } from '@aws-lambda-powertools/logger';
import type { LogEntry } from './telemetry.ts';

/** Of Lambda's context object, what a log line names its invocation by. */
export interface LoggedContext {
  awsRequestId: string;
}

export interface Log {
  write(entry: LogEntry): void;
  /** From here on lines belong to this invocation. */
  begin(context: LoggedContext): void;
}

/** Level by `POWERTOOLS_LOG_LEVEL` (default INFO), name of the service by `POWERTOOLS_SERVICE_NAME`. */
export function createLog(): Log {
  const logger = new Logger();
  return {
    write({ level, event, message, ...data }) {
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
    },
    begin({ awsRequestId }) {
      logger.appendKeys({ function_request_id: awsRequestId });
    },
  };
}
