/**
 * The alarm: one loop that sleeps until the next occurrence of any schedule and hands it over to delivery.
 *
 * An occurrence is noted in its schedule's record as pending before it is delivered and taken out afterwards, so a restart
 * neither loses nor forgets one. AWS is never off; this may be. What was due meanwhile is delivered at the next start where
 * it is younger than its retry policy's MaximumEventAgeInSeconds; what is older is dropped, with a line for `onFailure`.
 */
import type { Clock } from '../../step-functions/contract.ts';
import { GROUPS_TURN, type SchedulerContext } from '../context.ts';
import { type Schedule, scheduleKey } from '../records.ts';
import { scheduledTimeText } from './attributes.ts';
import { deliver, type Targets } from './deliver.ts';
import { deliveryTime, endsByItself, occurrenceAfter } from './due.ts';

export interface Alarms {
  /** Schedules have changed: look again. */
  changed(): void;
  /**
   * Resolves when nothing is left to do before the clock moves on: all that is due has been handed over, and every delivery
   * has been made or waits for its next attempt. For whoever moves the clock.
   */
  idle(): Promise<void>;
  /** What is not delivered yet is left to the next start. */
  close(): Promise<void>;
}

interface AlarmParts extends Pick<SchedulerContext, 'clock' | 'store' | 'turns'> {
  targets: Targets;
  onFailure(error: unknown): void;
}

/** Longer than any timer needs to be; then it is looked again. */
const MAX_SLEEP_MS = 86_400_000;
const FAULT_SLEEP_MS = 10_000;

interface Due {
  schedule: Schedule;
  occurrence: number;
  at: number;
}

export function startAlarms(parts: AlarmParts): Alarms {
  const { store, turns } = parts;
  const closing = new AbortController();
  const deliveries = new Set<Promise<void>>();
  const activity = watchActivity(parts.clock);
  const clock = activity.clock;
  let wake = new AbortController();
  /** The next occurrence by schedule record: records are replaced, never changed, so a stale one is not asked for again. */
  const known = new WeakMap<Schedule, number | undefined>();

  function nextOf(schedule: Schedule): number | undefined {
    if (known.has(schedule)) return known.get(schedule);
    const next = occurrenceAfter(schedule, schedule.doneUntil);
    known.set(schedule, next);
    return next;
  }

  function earliest(): Due | undefined {
    let first: Due | undefined;
    for (const schedule of store.schedules.all()) {
      const occurrence = schedule.state === 'ENABLED' ? nextOf(schedule) : undefined;
      if (occurrence === undefined) continue;
      const at = deliveryTime(schedule, occurrence);
      if (first === undefined || at < first.at) first = { schedule, occurrence, at };
    }
    return first;
  }

  /** Changes the record of a schedule that is still there. `make` answers undefined where there is nothing to change. */
  function change(
    schedule: Schedule,
    make: (current: Schedule) => Schedule | undefined,
  ): Promise<Schedule | undefined> {
    return turns.take(GROUPS_TURN, async () => {
      const current = currentOf(schedule);
      const next = current === undefined ? undefined : make(current);
      if (next !== undefined) await store.schedules.save(next);
      return next;
    });
  }

  function currentOf(schedule: Schedule): Schedule | undefined {
    const current = store.schedules.get(keyOf(schedule));
    return current !== undefined && isSame(current, schedule) ? current : undefined;
  }

  async function handOver({ schedule, occurrence, at }: Due): Promise<void> {
    const oldest = clock.now() - schedule.target.RetryPolicy.MaximumEventAgeInSeconds * 1000;
    // Of a record that has been changed since it was looked at, nothing is known to be due.
    const unchanged = (make: (current: Schedule) => Schedule) => (current: Schedule) =>
      current === schedule ? make(current) : undefined;
    if (at < oldest) {
      // In one step over all that is too old, however long this was off.
      const doneUntil = Math.max(occurrence, oldest - 1 - (schedule.flexibleWindowMinutes ?? 0) * 60_000);
      const moved = await change(
        schedule,
        unchanged((current) => ({ ...current, doneUntil })),
      );
      if (moved === undefined) return;
      parts.onFailure(
        new Error(
          `${schedule.arn}: what was due from ${scheduledTimeText(occurrence)} to ${scheduledTimeText(doneUntil)} is dropped, it is older than MaximumEventAgeInSeconds`,
        ),
      );
      await complete(moved);
      return;
    }
    const noted = await change(
      schedule,
      unchanged((current) => ({
        ...current,
        doneUntil: occurrence,
        pending: [...current.pending, occurrence],
      })),
    );
    if (noted !== undefined) begin(noted, occurrence);
  }

  function begin(schedule: Schedule, occurrence: number): void {
    const delivery = activity
      .during(async () => {
        const done = await deliver(occurrence, {
          targets: parts.targets,
          clock,
          current: () => {
            const current = currentOf(schedule);
            return current?.pending.includes(occurrence) === true ? current : undefined;
          },
          signal: closing.signal,
          onFailure: parts.onFailure,
        });
        if (!done) return;
        const left = await change(schedule, (current) => ({
          ...current,
          pending: current.pending.filter((each) => each !== occurrence),
        }));
        if (left !== undefined) await complete(left);
      })
      .catch(parts.onFailure)
      .then(() => {
        deliveries.delete(delivery);
      });
    deliveries.add(delivery);
  }

  /** Deletes a schedule that is over, if it is to go by itself. */
  async function complete(schedule: Schedule): Promise<void> {
    if (!endsByItself(schedule)) return;
    await turns.take(GROUPS_TURN, async () => {
      const current = currentOf(schedule);
      if (current === undefined || current.pending.length > 0 || nextOf(current) !== undefined) return;
      await store.schedules.remove(keyOf(schedule));
    });
  }

  async function run(): Promise<void> {
    for (const schedule of store.schedules.all()) {
      for (const occurrence of schedule.pending) begin(schedule, occurrence);
    }
    while (!closing.signal.aborted) {
      wake = new AbortController();
      const due = earliest();
      const now = clock.now();
      let ms = MAX_SLEEP_MS;
      if (due !== undefined && due.at <= now) {
        try {
          await handOver(due);
          continue;
        } catch (error) {
          // The disk is full, say. The occurrence stays due.
          parts.onFailure(error);
          ms = FAULT_SLEEP_MS;
        }
      } else if (due !== undefined) {
        ms = Math.min(due.at - now, MAX_SLEEP_MS);
      }
      // Woken early, it looks again; that is all there is to either end.
      await clock.sleep(ms, AbortSignal.any([wake.signal, closing.signal])).catch(() => undefined);
    }
  }

  const running = activity.during(run).catch(parts.onFailure);
  return {
    changed: () => wake.abort(),
    idle: () => activity.idle(),
    async close() {
      closing.abort();
      await running;
      await Promise.all(deliveries);
    },
  };
}

function keyOf({ group, name }: Schedule): string {
  return scheduleKey(group, name);
}

/** Whether two records are of one schedule: neither deleted and made anew between them. */
function isSame(a: Schedule, b: Schedule): boolean {
  return a.arn === b.arn && a.createdAt === b.createdAt;
}

/** Counts what is at work, sleeping not counted. */
function watchActivity(clock: Clock): {
  clock: Clock;
  during<T>(work: () => Promise<T>): Promise<T>;
  idle(): Promise<void>;
} {
  let active = 0;
  const waiting = new Set<() => void>();
  const change = (by: 1 | -1): void => {
    active += by;
    if (active > 0) return;
    for (const each of waiting) each();
    waiting.clear();
  };
  return {
    clock: {
      now: () => clock.now(),
      async sleep(ms, signal) {
        change(-1);
        try {
          await clock.sleep(ms, signal);
        } finally {
          change(1);
        }
      },
    },
    async during(work) {
      change(1);
      try {
        return await work();
      } finally {
        change(-1);
      }
    },
    idle: () => (active === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.add(resolve))),
  };
}
