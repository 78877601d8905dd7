/** A function that tells what its event says, for tests of what comes out of a process. */
import type { Context } from 'aws-lambda';
import { createAwsTelemetry } from '../../lib/telemetry/aws.ts';
import type { LogEntry, Telemetry } from '../../lib/telemetry/telemetry.ts';

export interface Telling {
  log?: LogEntry[];
  runs?: Parameters<Telemetry['runEnded']>[];
  failures?: Parameters<Telemetry['failure']>[];
  toolCalls?: Parameters<Telemetry['toolCall']>[];
  requests?: Parameters<Telemetry['request']>[];
  /** Name, annotations, and how the work ends. */
  spans?: [string, Record<string, string>, 'answers' | 'answers with a fault' | 'rejects'][];
}

const { telemetry, log, during } = createAwsTelemetry();

export const handler = (event: Telling, context: Context) => during(context, () => tell(event));

async function tell({ log: lines = [], runs = [], failures = [], ...more }: Telling): Promise<string[]> {
  for (const line of lines) log(line);
  for (const run of runs) telemetry.runEnded(...run);
  for (const failure of failures) telemetry.failure(...failure);
  for (const call of more.toolCalls ?? []) telemetry.toolCall(...call);
  for (const request of more.requests ?? []) telemetry.request(...request);
  const ends = (more.spans ?? []).map(([name, annotations, end]) => {
    const work = () => (end === 'rejects' ? Promise.reject(new Error('secret')) : Promise.resolve(end));
    return telemetry
      .span(name, annotations, work, (answer) => answer === 'answers with a fault')
      .catch((error: Error) => error.message);
  });
  return [...(await Promise.all(ends)), telemetry.traceHeader() ?? 'no trace'];
}
