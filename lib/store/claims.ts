/**
 * Claims: who comes first has it, for good (or for 90 days). Used for schedule occurrences and idempotency keys.
 */
import { ABSENT, getItem, putItem } from './item.ts';
import type { Store } from './store.ts';
import { RUN_TTL_SECONDS, TTL_ATTRIBUTE } from './table.ts';
import { expiry } from './values.ts';

/**
 * Claims `pk` (e.g. `CLAIM#<schedule>#<time>`, `KEY#<hash>`). True for the first, and again for the same `claimant`, so
 * that a delivery that comes twice, or a write whose answer was lost, does not lose to itself.
 */
export async function putClaim(store: Store, pk: string, claimant: string): Promise<boolean> {
  const key = { pk, sk: 'CLAIM' };
  const claimed = await putItem(
    store,
    { ...key, claimant, [TTL_ATTRIBUTE]: expiry(RUN_TTL_SECONDS) },
    // The first put makes the item; nothing ever changes it.
    ABSENT,
  );
  return claimed || (await getItem(store, key))?.claimant === claimant;
}

/** Who has a claim. */
export async function getClaim(store: Store, pk: string): Promise<string | undefined> {
  const item = await getItem(store, { pk, sk: 'CLAIM' });
  return typeof item?.claimant === 'string' ? item.claimant : undefined;
}
