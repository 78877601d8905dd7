/**
 * Service quotas of Step Functions that the compiler keeps and the local interpreter enforces.
 * Source: Step Functions developer guide, "Service quotas".
 */
export const MAX_PAYLOAD_BYTES = 256 * 1024;
export const MAX_DEFINITION_BYTES = 1024 * 1024;
export const MAX_HISTORY_EVENTS = 25_000;
export const MAX_INLINE_CONCURRENCY = 40;
export const MAX_STATE_NAME = 80;

/** Lambda's longest time for an invocation. Source: Lambda developer guide, "Lambda quotas". */
export const MAX_FUNCTION_SECONDS = 900;
