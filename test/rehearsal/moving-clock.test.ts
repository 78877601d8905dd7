/** The clock that schedules follow. */
import { describe, expect, it } from 'vitest';
import { createMovingClock } from '../../rehearsal/moving-clock.ts';

describe('the moving clock', () => {
  it('goes with the time and can be put forward', () => {
    const clock = createMovingClock();
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(50);
    clock.forward(3_600_000);
    expect(clock.now() - Date.now()).toBeGreaterThan(3_599_000);
  });

  it('wakes who sleeps for less, and nobody else', async () => {
    const clock = createMovingClock();
    const woken: string[] = [];
    const hour = clock.sleep(3_600_000).then(() => woken.push('hour'));
    const cut = new AbortController();
    const day = clock.sleep(86_400_000, cut.signal).then(
      () => woken.push('day'),
      () => woken.push('cut'),
    );
    clock.forward(3_600_001);
    await hour;
    expect(woken).toEqual(['hour']);
    cut.abort();
    await day;
    expect(woken).toEqual(['hour', 'cut']);
  });

  it('sleeps by itself too', async () => {
    const clock = createMovingClock();
    await clock.sleep(5);
    await expect(clock.sleep(5, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});
