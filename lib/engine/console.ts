/**
 * Deep links into the AWS console; on one machine there is no console and no link. AWS documents no such address; this is the one
 * that the Step Functions console itself shows.
 */
import type { RunRecord } from '../store/records.ts';
import type { EngineEnvironment } from './environment.ts';
import { executionOf } from './reconcile.ts';

/** Page of a run's execution, also before it has claimed the run. Undefined: there is no console, or no execution (a trial call). */
export function runUrl(env: EngineEnvironment, run: RunRecord): string | undefined {
  if (!env.config.console || run.trigger === 'try') return undefined;
  const { region } = env.config;
  const execution = encodeURI(executionOf(run));
  return `https://${region}.console.aws.amazon.com/states/home?region=${region}#/v2/executions/details/${execution}`;
}
