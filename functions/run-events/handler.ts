/** Handler of "Step Functions Execution Status Change" events: keeps the run record true to its execution. */
import type { EngineEnvironment } from '../../lib/engine/environment.ts';
import { applyStatusEvent, statusEvent } from '../../lib/engine/run-events.ts';

export type RunEventsHandler = (event: unknown) => Promise<{ outcome: string }>;

export function createRunEvents(env: EngineEnvironment): RunEventsHandler {
  return async (event) => {
    const parsed = statusEvent.safeParse(event);
    if (!parsed.success) throw new Error('run-events: this is no status-change event of Step Functions');
    const outcome = await applyStatusEvent(env, parsed.data);
    return { outcome };
  };
}
