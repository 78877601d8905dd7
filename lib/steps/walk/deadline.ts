/** A container's own time limit, where it is walked inside a task. */
import type { StepNode } from '../../compile/program.ts';
import { Stop, type Work, withSignal } from '../work.ts';

/** Runs `body` under the step's time limit, counted from now; what is in flight when it is over is aborted. */
export async function withTimeLimit<T>(
  work: Work,
  node: StepNode,
  body: (work: Work) => Promise<T>,
): Promise<T> {
  if (node.timeoutMs === undefined) return body(work);
  const over = new AbortController();
  const done = new AbortController();
  const timer = work.env.clock.sleep(node.timeoutMs, done.signal).then(
    () =>
      over.abort(
        new Stop(
          'step-deadline',
          `step "${node.id}" reached its time limit of ${(node.timeoutMs ?? 0) / 1000} s`,
        ),
      ),
    () => undefined,
  );
  try {
    return await body(withSignal(work, AbortSignal.any([work.signal, over.signal])));
  } finally {
    done.abort();
    await timer;
  }
}
