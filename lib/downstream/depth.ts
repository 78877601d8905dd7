/** How deep JSON nests. What downstream servers send is looked at before anything walks it by recursion. */

/** Levels that a value of a run may have. Templates, canonical JSON and JSON.stringify walk values by recursion. */
export const MAX_VALUE_DEPTH = 200;

/** True where arrays and objects nest more than `limit` levels. It looks no deeper than that. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, limit - 1));
  for (const key in value) if (isDeeperThan((value as Record<string, unknown>)[key], limit - 1)) return true;
  return false;
}
