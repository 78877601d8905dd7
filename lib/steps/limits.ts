/**
 * The limits of a root run and its descendants, as the configuration has them: environment variables of the function, or
 * of the engine on one machine.
 *
 *     MWE_MAX_ATTEMPTS   calls, retries included   default 100,000
 *     MWE_MAX_SUB_RUNS   sub-workflow runs         default 1,000
 */
import type { StepsLimits } from './environment.ts';

const VARIABLES = { MWE_MAX_ATTEMPTS: 'maxAttempts', MWE_MAX_SUB_RUNS: 'maxSubRuns' } as const;

/** A limit that is no limit. The message names the variable. */
export class LimitsError extends Error {}

/** The limits that differ from the defaults: a variable that is absent or empty says nothing. Throws LimitsError. */
export function limitsOf(env: Readonly<Record<string, string | undefined>>): Partial<StepsLimits> {
  const limits: Partial<StepsLimits> = {};
  for (const [variable, limit] of Object.entries(VARIABLES)) {
    const text = env[variable] ?? '';
    if (text === '') continue;
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value)) {
      throw new LimitsError(`${variable}: a whole number from 1 is needed, "${text.slice(0, 40)}" is set`);
    }
    limits[limit] = value;
  }
  return limits;
}
