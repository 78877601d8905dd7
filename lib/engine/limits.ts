/** What one principal may have and do; the defaults are the deployment's, each can be changed by configuration. */
export interface EngineLimits {
  /** Requests a minute. */
  requestsPerMinute: number;
  /** Runs that are open at once, sub-runs not counted. */
  openRuns: number;
  /** Calls of run_workflow that wait for a run at once. */
  waitingRuns: number;
  schedules: number;
  /** Shortest time between two occurrences of a schedule. */
  minScheduleMinutes: number;
}

export const DEFAULT_ENGINE_LIMITS: EngineLimits = {
  requestsPerMinute: 600,
  openRuns: 100,
  waitingRuns: 20,
  schedules: 10,
  minScheduleMinutes: 5,
};

/** One machine has one principal, and nobody to protect from it but its own mistakes. */
export const LOCAL_ENGINE_LIMITS: EngineLimits = {
  ...DEFAULT_ENGINE_LIMITS,
  requestsPerMinute: 100_000,
  openRuns: 10_000,
  waitingRuns: 1000,
};
