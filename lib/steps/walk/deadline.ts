/**
 * A container's own time limit, where it is walked inside a task. It stands from the container's first entry on, also where
 * the item goes on in another invocation.
 */
import type { StepNode } from '../../compile/program.ts';
import { Stop, type Work, withSignal } from '../work.ts';
import type { Progress } from './progress.ts';

/** Runs `body` under the step's time limit; what is in flight when it is over is aborted. */
export async function withTimeLimit<T>(
  work: Work,
  node: StepNode,
  at: string,
  { limits }: Progress,
  body: (work: Work) => Promise<T>,
): Promise<T> {
  if (node.timeoutMs === undefined) return body(work);
  const { clock } = work.env;
  const began = clock.now();
  const deadline = limits.get(at) ?? began + node.timeoutMs;
  limits.set(at, deadline);
  const over = new AbortController();
  const done = new AbortController();
  const sentence = `step "${node.id}" reached its time limit of ${node.timeoutMs / 1000} s`;
  const end = (): void => over.abort(new Stop('step-deadline', sentence));
  if (deadline <= began) end();
  const timer = clock.sleep(Math.max(0, deadline - began), done.signal).then(end, () => undefined);
  try {
    const value = await body(withSignal(work, AbortSignal.any([work.signal, over.signal])));
    // It has ended: walking it again only replays it, however late that is.
    limits.delete(at);
    return value;
  } finally {
    done.abort();
    await timer;
  }
}
