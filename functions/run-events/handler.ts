/**
 * Handler of "Step Functions Execution Status Change" events, which keep the run record true to its execution, and of the
 * timer that looks after those which no event came for.
 */
import type { EngineEnvironment } from '../../lib/engine/environment.ts';
import { applyStatusEvent, statusEvent, timerEvent } from '../../lib/engine/run-events.ts';
import { sweepRuns } from '../../lib/engine/sweep.ts';

export type RunEventsHandler = (event: unknown) => Promise<{ outcome: string }>;

export function createRunEvents(env: EngineEnvironment): RunEventsHandler {
  return async (event) => {
    if (timerEvent.safeParse(event).success) {
      const { open, closed } = await sweepRuns(env);
      return { outcome: `${open} open, ${closed} closed` };
    }
    const parsed = statusEvent.safeParse(event);
    if (!parsed.success) throw new Error('run-events: this is no status-change event of Step Functions');
    const outcome = await applyStatusEvent(env, parsed.data);
    return { outcome };
  };
}
