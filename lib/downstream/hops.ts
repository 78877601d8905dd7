/** How many engines a call has come through: what stops an engine that is its own downstream server. */

/** Key in a request's `_meta`. The endpoint reads it and starts runs with it. */
export const HOPS_META_KEY = 'dev.mcp-workflow-engine/hops';
/** An engine that is its own downstream server comes this deep and no further. */
export const MAX_HOPS = 5;
