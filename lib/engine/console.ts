/** Deep links into the AWS console; on one machine there is no console and no link. */
import type { EngineEnvironment } from './environment.ts';

/** Page of an execution in the Step Functions console. */
export function executionUrl(env: EngineEnvironment, execution: string | undefined): string | undefined {
  if (!env.config.console || execution === undefined) return undefined;
  const { region } = env.config;
  return `https://${region}.console.aws.amazon.com/states/home?region=${region}#/v2/executions/details/${execution}`;
}
