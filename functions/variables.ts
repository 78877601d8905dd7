/**
 * The environment variables that the stack gives to the functions: the contract between infra/ and functions/. Secrets are
 * named, never held.
 */
export const VARIABLES = {
  /** Name of the engine table. All functions. */
  table: 'MWE_TABLE',
  /** Name of the bucket. All functions. */
  bucket: 'MWE_BUCKET',
  /** Prefix of state machines' names, e.g. `mwe-`. All functions. */
  machinePrefix: 'MWE_MACHINE_PREFIX',
  /** Execution role of machines that the endpoint makes. mcp-endpoint. */
  machineRoleArn: 'MWE_MACHINE_ROLE_ARN',
  /** ARN of the log group that executions log to, ending in `:*`. mcp-endpoint. */
  machineLogGroupArn: 'MWE_MACHINE_LOG_GROUP_ARN',
  callToolArn: 'MWE_CALL_TOOL_ARN',
  callToolTimeoutSeconds: 'MWE_CALL_TOOL_TIMEOUT_SECONDS',
  /** Tells the downstream configuration; computed at synth, the same for all functions. */
  serversHash: 'MWE_SERVERS_HASH',
  /** JSON of AuthConfig (lib/mcp/auth/config.ts). mcp-endpoint. */
  auth: 'MWE_AUTH',
  /** Values of Origin that may speak, separated by commas; empty: none. mcp-endpoint. */
  allowedOrigins: 'MWE_ALLOWED_ORIGINS',
  /** ARN of the secret whose string is the key of cursors. mcp-endpoint. */
  cursorSecretArn: 'MWE_CURSOR_SECRET_ARN',
  /** `off`, `read-only` or `all`. mcp-endpoint. */
  callToolMode: 'MWE_CALL_TOOL',
  /** `links` or `values`. call-tool, mcp-endpoint (log level of the machines it makes). */
  inspect: 'MWE_INSPECT',
  /** `on` or `off`: whether the machines it makes are traced by X-Ray. mcp-endpoint. */
  machineTracing: 'MWE_MACHINE_TRACING',
  scheduleGroup: 'MWE_SCHEDULE_GROUP',
  scheduleRoleArn: 'MWE_SCHEDULE_ROLE_ARN',
  /** Limits of one principal, each a whole number; absent: lib/engine/limits.ts. mcp-endpoint. */
  requestsPerMinute: 'MWE_REQUESTS_PER_MINUTE',
  maxOpenRuns: 'MWE_MAX_OPEN_RUNS',
  maxWaitingRuns: 'MWE_MAX_WAITING_RUNS',
  maxSchedules: 'MWE_MAX_SCHEDULES',
  minScheduleMinutes: 'MWE_MIN_SCHEDULE_MINUTES',
} as const;
