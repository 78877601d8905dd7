/**
 * Keeps watch while a task works: renews its lease, and looks at the run's stop flag and at the time limits at most a second
 * apart. What it finds aborts the task's signal; `end` leaves no timer behind.
 */
import type { RunRecord, StepRecord } from '../store/records.ts';
import { getRun, getRuns, isOpen, touchRun } from '../store/runs.ts';
import { LeaseLost, renewLease } from '../store/steps.ts';
import { faultFields } from '../telemetry/fault-fields.ts';
import type { StepsEnvironment } from './environment.ts';
import { Stop } from './work.ts';

export interface Watch {
  signal: AbortSignal;
  /** Looks at the run now; for before a window. */
  look(): Promise<void>;
  /** Renews the lease now. Throws LeaseLost. */
  hold(): Promise<void>;
  end(): Promise<void>;
}

export interface WatchOptions {
  /** The step whose lease is renewed. */
  record: Pick<StepRecord, 'at' | 'lease'>;
  owner: string;
  /** Epoch ms: the time limit of the step or of a container around it. */
  deadline: number | undefined;
  /** Called with every look, for a loop's own stop flag. */
  onLook?(): Promise<void>;
}

/** A run is touched so often that it never counts as silent (a minute). */
const TOUCH_EVERY_MS = 20_000;

export function startWatch(env: StepsEnvironment, run: RunRecord, options: WatchOptions): Watch {
  const { clock, limits, store } = env;
  const work = new AbortController();
  const ended = new AbortController();
  // Step Functions stops a sub-run with its parent, except one that the parent has redriven.
  const outer = run.parent === undefined ? [] : [...new Set([run.parent.run, run.root])];
  let leaseUntil = options.record.lease?.until ?? clock.now() + limits.leaseMs;
  let renewAt = clock.now() + limits.renewEveryMs;
  let touchAt = Date.parse(run.touchedAt) + TOUCH_EVERY_MS;

  /** True where a time limit is over. */
  function timeIsUp(now: number): boolean {
    if (run.deadline !== undefined && now >= run.deadline)
      work.abort(new Stop('run-deadline', 'the run reached its time limit'));
    else if (options.deadline !== undefined && now >= options.deadline)
      work.abort(new Stop('step-deadline', 'the step reached its time limit'));
    else return false;
    return true;
  }

  async function look(): Promise<void> {
    const now = clock.now();
    if (timeIsUp(now)) return;
    let current: RunRecord | undefined;
    if (now >= touchAt) {
      touchAt = now + TOUCH_EVERY_MS;
      current = await touchRun(store, run.run, new Date(now).toISOString());
    }
    const [above, found] = await Promise.all([
      outer.length === 0 ? [] : getRuns(store, outer),
      current ?? getRun(store, run.run),
    ]);
    current = found;
    // `end` may have come in between: then nobody is there to hear.
    if (ended.signal.aborted) return;
    if (current === undefined || current.epoch > run.epoch)
      return work.abort(new LeaseLost(run.run, options.record.at));
    if (current.stop !== undefined) return work.abort(new Stop('cancelled', 'the run was cancelled'));
    if (above.some(({ stop }) => stop !== undefined))
      return work.abort(new Stop('cancelled', 'the run that this one is a part of was cancelled'));
    if (!isOpen(current.status)) return work.abort(new Stop('cancelled', 'the run has ended'));
    await options.onLook?.();
  }

  async function renew(): Promise<void> {
    const until = clock.now() + limits.leaseMs;
    const held = await renewLease(store, run.run, options.record.at, options.owner, until);
    if (!held && !ended.signal.aborted) {
      work.abort(new LeaseLost(run.run, options.record.at));
      return;
    }
    leaseUntil = until;
    renewAt = until - limits.leaseMs + limits.renewEveryMs;
  }

  /** A store that does not answer is no reason to stop, until the lease is over and another may have the step. */
  async function round(): Promise<void> {
    try {
      await look();
      if (clock.now() >= renewAt) await renew();
    } catch (error) {
      env.logger.warn('watching a task failed, will try again', {
        run: run.run,
        at: options.record.at,
        ...faultFields(error),
      });
      if (clock.now() >= leaseUntil) work.abort(new LeaseLost(run.run, options.record.at));
    }
  }

  function pause(): number {
    const now = clock.now();
    const limit = Math.min(
      run.deadline ?? Number.POSITIVE_INFINITY,
      options.deadline ?? Number.POSITIVE_INFINITY,
    );
    return Math.max(1, Math.min(limits.pollEveryMs, limit - now));
  }

  async function loop(): Promise<void> {
    while (!ended.signal.aborted && !work.signal.aborted) {
      try {
        await clock.sleep(pause(), ended.signal);
      } catch {
        return;
      }
      await round();
    }
  }
  // A task may come after its time: then nothing is sent.
  timeIsUp(clock.now());
  const looping = loop();

  return {
    signal: work.signal,
    look,
    async hold() {
      await renew();
      if (work.signal.reason instanceof LeaseLost) throw work.signal.reason;
    },
    async end() {
      ended.abort();
      await looping;
    },
  };
}
