/** A call of a downstream tool as metrics and traces see it: which tool, how long, how it went; neither arguments nor answer. */
import type { ResolvedTool, StepsEnvironment, ToolAnswer } from '../environment.ts';

/** Makes the call. What it throws is thrown on. */
export async function observedCall(
  env: Pick<StepsEnvironment, 'telemetry' | 'clock'>,
  { server, tool }: ResolvedTool,
  call: () => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const began = env.clock.now();
  let failed = true;
  try {
    const answer = await env.telemetry.span(
      `${server}/${tool}`,
      { server, tool },
      call,
      ({ isError }) => isError,
    );
    failed = answer.isError;
    return answer;
  } finally {
    env.telemetry.toolCall(failed ? 'failed' : 'succeeded', env.clock.now() - began);
  }
}
