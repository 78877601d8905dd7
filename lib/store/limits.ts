/**
 * What one principal uses at this moment, for its limits. Each question is one conditional write of one item, so that however
 * many functions ask at once, a limit holds (open runs are the exception: they are counted in an index, see below).
 *
 * | pk | sk | holds |
 * |---|---|---|
 * | LIMIT#principal | REQUESTS#<minute> | requests of one minute; gone an hour later |
 * | LIMIT#principal | WAITING | leases of calls that wait, each with the time at which it is void |
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { getItem, queryPage, updateItem } from './item.ts';
import { type Key, limitKey } from './keys.ts';
import { openRunsPrefix } from './runs.ts';
import type { Store } from './store.ts';
import { INDEXES, TTL_ATTRIBUTE } from './table.ts';
import { expiry } from './values.ts';

const MINUTE_MS = 60_000;
const KEPT_SECONDS = 3600;

/**
 * Counts a request in the minute that `now` (epoch ms) is in. One write. False: the limit is reached, nothing was counted. The
 * window is fixed: around the turn of a minute twice the limit can come within 60 s. The SDK repeats a write whose answer was
 * lost, so a count can be too high, never too low.
 */
export async function countRequest(
  store: Store,
  principal: string,
  limit: number,
  now: number,
): Promise<boolean> {
  const minute = Math.floor(now / MINUTE_MS);
  const counted = await updateItem(
    store,
    limitKey(principal, `REQUESTS#${minute}`),
    { add: { count: 1 }, setOnce: { [TTL_ATTRIBUTE]: expiry(KEPT_SECONDS) } },
    // Of requests that come together no more pass than the limit has left.
    { expression: 'attribute_not_exists(#count) OR #count < :limit', values: { ':limit': limit } },
  );
  return counted !== undefined;
}

/** Milliseconds until the window of `countRequest` is over. */
export function untilNextMinute(now: number): number {
  return MINUTE_MS - (now % MINUTE_MS);
}

/**
 * Open runs of a principal, sub-runs not counted, at most `limit` of them. One query of an index, which follows the table by
 * moments: what is started in the same moment does not see each other.
 */
export async function countOpenRuns(store: Store, principal: string, limit: number): Promise<number> {
  const page = await queryPage(store, {
    index: INDEXES.open,
    pk: 'OPEN',
    prefix: openRunsPrefix(principal),
    limit,
  });
  return page.items.length;
}

/** A place that is taken until it is given back, or until the time in it. */
export interface WaitLease {
  principal: string;
  /** `<until, epoch ms>#<name>`. */
  element: string;
}

export type WaitPlace = { lease: WaitLease } | { freeAt: number };

/** Times that places of the dead are cleared away before a refusal. */
const CLEARINGS = 3;

/**
 * Takes one of the principal's `limit` places until `until` (epoch ms); `name` tells leases apart. One write where a place is
 * free. Else `freeAt`: when the first one is void, should nobody give one back before.
 */
export async function takeWaitPlace(
  store: Store,
  principal: string,
  request: { name: string; until: number; limit: number; now: number },
): Promise<WaitPlace> {
  const { name, until, limit, now } = request;
  const key = limitKey(principal, 'WAITING');
  const element = `${until}#${name}`;
  for (let clearing = 0; ; clearing += 1) {
    const taken = await changeLeases(store, key, 'ADD', [element], {
      // A set holds an element once: a repetition by the SDK finds its own.
      expression: 'attribute_not_exists(#leases) OR size(#leases) < :limit OR contains(#leases, :own)',
      values: { ':limit': limit, ':own': element },
    });
    if (taken) return { lease: { principal, element } };
    const leases = [...(((await getItem(store, key))?.leases as Set<string> | undefined) ?? [])];
    const dead = leases.filter((each) => endOf(each) <= now);
    if (dead.length === 0 || clearing === CLEARINGS) {
      return { freeAt: Math.min(until, ...leases.map(endOf).filter((end) => end > now)) };
    }
    await changeLeases(store, key, 'DELETE', dead);
  }
}

/** Gives the place back. One that was void already is nobody's loss. */
export async function leaveWaitPlace(store: Store, { principal, element }: WaitLease): Promise<void> {
  await changeLeases(store, limitKey(principal, 'WAITING'), 'DELETE', [element]);
}

function endOf(element: string): number {
  return Number(element.slice(0, element.indexOf('#')));
}

/** Adds elements to the set, or takes them out. False: the condition did not hold. */
async function changeLeases(
  store: Store,
  key: Key,
  action: 'ADD' | 'DELETE',
  elements: readonly string[],
  condition?: { expression: string; values: Record<string, unknown> },
): Promise<boolean> {
  try {
    await store.table.client.send(
      new UpdateCommand({
        TableName: store.table.name,
        Key: key,
        UpdateExpression: `SET #expires = :expires ${action} #leases :elements`,
        ...(condition === undefined ? {} : { ConditionExpression: condition.expression }),
        ExpressionAttributeNames: { '#expires': TTL_ATTRIBUTE, '#leases': 'leases' },
        ExpressionAttributeValues: {
          ':expires': expiry(KEPT_SECONDS),
          ':elements': new Set(elements),
          ...condition?.values,
        },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
