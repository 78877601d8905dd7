/**
 * The limits of a root run and its descendants, as the configuration has them: environment variables of the function, or
 * of the engine on one machine.
 *
 *     MWE_MAX_ATTEMPTS     calls, retries included          default 100,000
 *     MWE_MAX_SUB_RUNS     sub-workflow runs                default 1,000
 *     MWE_MAX_DEPTH        sub-workflows in sub-workflows   default 10, which is also the most: blueprints that nest deeper are refused
 *     MWE_MAX_RUN_SECONDS  time of a run                    default 86,400, which is also the most that a blueprint may ask for
 *
 * `maxRetries` of a step is bounded by the language alone (10).
 */
import { MAX_RUN_TIMEOUT_SECONDS, MAX_SUBWORKFLOW_DEPTH } from '../blueprint/limits.ts';
import type { StepsLimits } from './environment.ts';

/** `most`: what the language allows. */
const VARIABLES = {
  MWE_MAX_ATTEMPTS: { limit: 'maxAttempts', most: undefined },
  MWE_MAX_SUB_RUNS: { limit: 'maxSubRuns', most: undefined },
  MWE_MAX_DEPTH: { limit: 'maxDepth', most: MAX_SUBWORKFLOW_DEPTH },
  MWE_MAX_RUN_SECONDS: { limit: 'maxRunSeconds', most: MAX_RUN_TIMEOUT_SECONDS },
} as const;

/** A limit that is no limit. The message names the variable. */
export class LimitsError extends Error {}

/** The limits that differ from the defaults: a variable that is absent or empty says nothing. Throws LimitsError. */
export function limitsOf(env: Readonly<Record<string, string | undefined>>): Partial<StepsLimits> {
  const limits: Partial<StepsLimits> = {};
  for (const [variable, { limit, most }] of Object.entries(VARIABLES)) {
    const text = env[variable] ?? '';
    if (text === '') continue;
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value)) {
      throw new LimitsError(`${variable}: a whole number from 1 is needed, "${text.slice(0, 40)}" is set`);
    }
    if (most !== undefined && value > most) {
      throw new LimitsError(`${variable}: at most ${most} is allowed, "${text}" is set`);
    }
    limits[limit] = value;
  }
  return limits;
}
