/** Sleeping on the clocks of this machine. */
import { describe, expect, it } from 'vitest';
import { SYSTEM_CLOCK, WALL_CLOCK } from '../../lib/local/system-clock.ts';

describe.each([
  ['the system clock', SYSTEM_CLOCK],
  ['the wall clock', WALL_CLOCK],
])('%s', (_, clock) => {
  it('sleeps no shorter than asked', async () => {
    const before = clock.now();
    await clock.sleep(20);
    expect(clock.now() - before).toBeGreaterThanOrEqual(20);
    await clock.sleep(0);
    await clock.sleep(-5);
  });

  it('wakes with the signal’s reason, also from a sleep that no timer can hold', async () => {
    const reason = new Error('changed');
    const signal = AbortSignal.abort(reason);
    await expect(clock.sleep(60_000, signal)).rejects.toBe(reason);
    const later = new AbortController();
    const sleeping = clock.sleep(2 ** 40, later.signal);
    later.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });
});
