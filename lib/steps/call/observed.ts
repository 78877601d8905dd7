/** A call of a downstream tool as metrics and traces see it: which tool, how long, how it went; neither arguments nor answer. */
import type { StepsEnvironment } from '../environment.ts';

/** Makes the call. What it throws is thrown on; an answer with `isError` counts as failed too. */
export async function observedCall<Answer extends { isError?: boolean }>(
  env: Pick<StepsEnvironment, 'telemetry' | 'clock'>,
  { server, tool }: { server: string; tool: string },
  call: () => Promise<Answer>,
): Promise<Answer> {
  const began = env.clock.now();
  const isFailed = ({ isError }: Answer): boolean => isError === true;
  let failed = true;
  try {
    const answer = await env.telemetry.span(`${server}/${tool}`, { server, tool }, call, isFailed);
    failed = isFailed(answer);
    return answer;
  } finally {
    env.telemetry.toolCall(failed ? 'failed' : 'succeeded', env.clock.now() - began);
  }
}
