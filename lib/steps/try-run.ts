/**
 * A trial call's run record (`call_tool`), which the endpoint has opened before anything is sent. There is no execution: while
 * the call is in flight this looks at the record once a second, so that a cancelled one is broken off, and says that it
 * lives; one that has been silent for a minute has lost its engine and is closed by whoever reads it (lib/engine/reconcile.ts).
 */
import type { StepError } from '../blueprint/errors.ts';
import type { Json } from '../blueprint/json.ts';
import { closeRun, getRun, isOpen, touchRun } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { putValue } from '../store/values.ts';
import type { Clock, StepsEnvironment } from './environment.ts';

const LOOK_EVERY_MS = 1000;
const TOUCH_EVERY_MS = 20_000;

export type TryEnvironment = Pick<StepsEnvironment, 'store' | 'clock' | 'telemetry'>;

export interface TryWatch {
  /** Aborted when the run is cancelled, or has ended otherwise. */
  signal: AbortSignal;
  end(): void;
}

/** Watches over the run of a call in flight until `end`. A store that does not answer now is no reason to stop. */
export function watchTry(store: Store, clock: Clock, run: string): TryWatch {
  const stop = new AbortController();
  const ended = new AbortController();
  let touchAt = clock.now() + TOUCH_EVERY_MS;
  async function look(): Promise<void> {
    const now = clock.now();
    let record = await getRun(store, run);
    if (now >= touchAt && record !== undefined) {
      touchAt = now + TOUCH_EVERY_MS;
      record = (await touchRun(store, run, new Date(now).toISOString())) ?? record;
    }
    if (record === undefined || record.stop !== undefined || !isOpen(record.status)) stop.abort();
  }
  async function loop(): Promise<void> {
    while (!ended.signal.aborted && !stop.signal.aborted) {
      try {
        await clock.sleep(LOOK_EVERY_MS, ended.signal);
      } catch {
        return;
      }
      await look().catch(() => undefined);
    }
  }
  void loop();
  return { signal: stop.signal, end: () => ended.abort() };
}

/** False where the run was cancelled, or closed otherwise, before anything was sent. */
export async function isTryOpen(store: Store, run: string): Promise<boolean> {
  const record = await getRun(store, run);
  return record !== undefined && record.stop === undefined && isOpen(record.status);
}

/** How a trial call ended: its whole value, or the failure. */
export type TryEnd = { server: string; tool: string } & ({ value: Json } | { error: StepError });

/** Stores what the call came to and closes the run; one that was cancelled meanwhile stays so. */
export async function endTry(env: TryEnvironment, run: string, end: TryEnd): Promise<void> {
  const { store, clock, telemetry } = env;
  if ('error' in end) await putValue(store, run, '$errors', [end.error] as unknown as Json);
  else await putValue(store, run, '$output', end.value);
  const { server, tool } = end;
  const status = 'error' in end ? 'FAILED' : 'SUCCEEDED';
  const { closed } = await closeRun(store, run, {
    status,
    endedAt: new Date(clock.now()).toISOString(),
    epoch: 0,
    errorCount: 'error' in end ? 1 : 0,
    ...(server === '' ? {} : { called: { server, tool } }),
  });
  if (closed) telemetry.runEnded(status, 'try');
  if ('error' in end) telemetry.failure(end.error.kind);
}
