/** Limits of the language, in one place. The sources are the design's tables; AWS's own limits are in lib/asl/limits.ts. */
export const STEP_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
export const BLUEPRINT_ID = /^[a-z][a-z0-9-]{0,47}$/;
export const SERVER_NAME = /^[a-z][a-z0-9-]{0,31}$/;
/** A tool as a step names it: `list_pods`, `k8s/list_pods`. Braces and spaces are refused: it is never a template. */
export const TOOL_NAME = /^[^\s{}]{1,200}$/;
/** A sub-workflow as a step names it: `other` (pinned at saving) or `other@latest`. */
export const WORKFLOW_REFERENCE = /^[a-z][a-z0-9-]{0,47}(@latest)?$/;
/** Names that a step id or a loop's item (`as`) may not take. */
export const RESERVED_NAMES = ['params', 'steps', 'results', 'run', 'input', 'output', 'index'] as const;

export const MAX_RETRIES = 10;
export const DEFAULT_RETRIES_OF_RETRY = 2;
export const DEFAULT_RETRY_DELAY_MS = 1000;
export const DEFAULT_BACKOFF_RATE = 2;
export const DEFAULT_MAX_DELAY_MS = 30_000;
export const MAX_CONCURRENCY = 400;
export const DEFAULT_MAX_ITEMS = 100_000;
/** Items walked at once by one task; above it a batch loop runs in lanes. */
export const LANE_CONCURRENCY = 10;
export const DEFAULT_CALL_TIMEOUT_MS = 60_000;
/** The call-tool function's limit (900 s) less the 30 s it needs to record and answer. */
export const MAX_CALL_TIMEOUT_SECONDS = 870;
export const DEFAULT_RUN_TIMEOUT_SECONDS = 3600;
export const MAX_RUN_TIMEOUT_SECONDS = 86_400;
/** Calls of a root run and all its descendants, retries included; configuration can raise it. */
export const MAX_RUN_ATTEMPTS = 100_000;
export const MAX_SUBWORKFLOW_DEPTH = 10;
export const MAX_BLUEPRINT_BYTES = 1024 * 1024;
export const MAX_JSON_DEPTH = 64;
/** Expressions: source length and nesting. */
export const MAX_EXPRESSION_BYTES = 2048;
export const MAX_EXPRESSION_DEPTH = 32;
/** What one evaluation may build. */
export const MAX_EVALUATION_BYTES = 16 * 1024 * 1024;
