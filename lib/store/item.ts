/**
 * Reading and writing single items of the table. A write that fails its condition is an answer here, not an exception:
 * whoever writes decides from the item as it stands. Every other failure of DynamoDB passes through.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Key } from './keys.ts';
import type { Store } from './store.ts';
import { INDEXES, TTL_ATTRIBUTE } from './table.ts';

export type Item = Record<string, unknown>;

/** Names and values of an expression; names are written `#name` and values `:name` in it. */
export interface Condition {
  expression: string;
  values?: Record<string, unknown>;
}

export interface Changes {
  set?: Record<string, unknown>;
  /** Set only where the attribute is not there yet. */
  setOnce?: Record<string, unknown>;
  remove?: string[];
  add?: Record<string, number>;
}

const HIDDEN = new Set<string>([
  'pk',
  'sk',
  TTL_ATTRIBUTE,
  ...Object.values(INDEXES).flatMap((index) => [index.pk, index.sk]),
]);

/**
 * The record in an item: its attributes without keys, index keys and expiry. `T` is what this folder wrote under that
 * key; nothing else writes to the table. `required` names attributes without which the item is not such a record.
 */
export function recordOf<T>(item: Item, required: readonly (keyof T & string)[]): T {
  const record: Item = {};
  for (const [name, value] of Object.entries(item)) if (!HIDDEN.has(name)) record[name] = value;
  for (const name of required) {
    if (record[name] === undefined) {
      throw new Error(`The item ${String(item.pk)} / ${String(item.sk)} has no "${name}".`);
    }
  }
  return record as T;
}

/** Reads one item, consistently. */
export async function getItem(store: Store, key: Key): Promise<Item | undefined> {
  const answer = await store.table.client.send(
    new GetCommand({ TableName: store.table.name, Key: key, ConsistentRead: true }),
  );
  return answer.Item;
}

/**
 * Puts an item whole. False when the condition did not hold. The SDK sends a request again whose answer was lost, so
 * false can also mean that the first try did it: who cannot bear that compares the item with what he wrote.
 */
export async function putItem(store: Store, item: Item, condition?: Condition): Promise<boolean> {
  try {
    await store.table.client.send(
      new PutCommand({ TableName: store.table.name, Item: item, ...conditionInput(condition) }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** Changes attributes of one item; answers the item as it is afterwards, undefined when the condition did not hold. */
export async function updateItem(
  store: Store,
  key: Key,
  changes: Changes,
  condition: Condition,
): Promise<Item | undefined> {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = { ...condition.values };
  const sets: string[] = [];
  const adds: string[] = [];
  for (const [name, value] of Object.entries(changes.set ?? {})) {
    if (value === undefined) continue;
    names[`#${name}`] = name;
    values[`:set_${name}`] = value;
    sets.push(`#${name} = :set_${name}`);
  }
  for (const [name, value] of Object.entries(changes.setOnce ?? {})) {
    if (value === undefined) continue;
    names[`#${name}`] = name;
    values[`:once_${name}`] = value;
    sets.push(`#${name} = if_not_exists(#${name}, :once_${name})`);
  }
  for (const [name, value] of Object.entries(changes.add ?? {})) {
    names[`#${name}`] = name;
    values[`:add_${name}`] = value;
    adds.push(`#${name} :add_${name}`);
  }
  const removes = changes.remove ?? [];
  for (const name of removes) names[`#${name}`] = name;
  const update = [
    sets.length > 0 ? `SET ${sets.join(', ')}` : '',
    removes.length > 0 ? `REMOVE ${removes.map((name) => `#${name}`).join(', ')}` : '',
    adds.length > 0 ? `ADD ${adds.join(', ')}` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
  try {
    const answer = await store.table.client.send(
      new UpdateCommand({
        TableName: store.table.name,
        Key: key,
        UpdateExpression: update,
        ConditionExpression: condition.expression,
        ExpressionAttributeNames: { ...names, ...namesIn(condition.expression) },
        ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
        ReturnValues: 'ALL_NEW',
      }),
    );
    return answer.Attributes;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

/** BatchGetItem takes at most 100 keys. */
const BATCH = 100;
/** Times that keys left unprocessed are asked for again. */
const BATCH_ROUNDS = 8;

/**
 * Reads many items, consistently; the answer has the keys' order, with undefined where there is no item. DynamoDB may
 * leave keys out under load or past 16 MB: those are asked for again, and after eight rounds it is an error.
 */
export async function getItems(store: Store, keys: readonly Key[]): Promise<(Item | undefined)[]> {
  const nameOf = (key: { pk?: unknown; sk?: unknown }): string => `${String(key.pk)}\n${String(key.sk)}`;
  const unique = new Map(keys.map((key) => [nameOf(key), { pk: key.pk, sk: key.sk }]));
  const found = new Map<string, Item>();
  const pending = [...unique.values()];
  const batches: Promise<void>[] = [];
  while (pending.length > 0) batches.push(readBatch(pending.splice(0, BATCH)));
  await Promise.all(batches);
  return keys.map((key) => found.get(nameOf(key)));

  async function readBatch(batch: Key[]): Promise<void> {
    let open: Record<string, unknown>[] = batch.map((key) => ({ ...key }));
    for (let round = 0; open.length > 0; round += 1) {
      if (round === BATCH_ROUNDS) throw new Error(`DynamoDB left ${open.length} keys of a batch unread.`);
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 20 * 2 ** round));
      const answer = await store.table.client.send(
        new BatchGetCommand({ RequestItems: { [store.table.name]: { Keys: open, ConsistentRead: true } } }),
      );
      for (const item of answer.Responses?.[store.table.name] ?? []) found.set(nameOf(item), item);
      open = answer.UnprocessedKeys?.[store.table.name]?.Keys ?? [];
    }
  }
}

export interface QueryOptions {
  index?: { name: string; pk: string; sk: string };
  pk: string;
  /** Sort keys that begin with this. */
  prefix?: string;
  /** Sort keys from here to there, both included. */
  between?: [string, string];
  newestFirst?: boolean;
  limit?: number;
  /** ExclusiveStartKey. */
  after?: Item;
  /** Attributes to read; all where absent. */
  attributes?: string[];
}

/** One page of a query: consistent on the table, eventually consistent on an index (DynamoDB has no other). */
export async function queryPage(
  store: Store,
  options: QueryOptions,
): Promise<{ items: Item[]; next: Item | undefined }> {
  const { index } = options;
  const names: Record<string, string> = { '#pk': index?.pk ?? 'pk' };
  const values: Record<string, unknown> = { ':pk': options.pk };
  let expression = '#pk = :pk';
  if (options.prefix !== undefined) {
    names['#sk'] = index?.sk ?? 'sk';
    values[':prefix'] = options.prefix;
    expression += ' AND begins_with(#sk, :prefix)';
  } else if (options.between !== undefined) {
    names['#sk'] = index?.sk ?? 'sk';
    values[':from'] = options.between[0];
    values[':to'] = options.between[1];
    expression += ' AND #sk BETWEEN :from AND :to';
  }
  const projection = options.attributes?.map((name) => {
    names[`#a_${name}`] = name;
    return `#a_${name}`;
  });
  const answer = await store.table.client.send(
    new QueryCommand({
      TableName: store.table.name,
      ...(index === undefined ? { ConsistentRead: true } : { IndexName: index.name }),
      KeyConditionExpression: expression,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ScanIndexForward: options.newestFirst !== true,
      ...(projection === undefined ? {} : { ProjectionExpression: projection.join(', ') }),
      ...(options.limit === undefined ? {} : { Limit: options.limit }),
      ...(options.after === undefined ? {} : { ExclusiveStartKey: options.after }),
    }),
  );
  return { items: answer.Items ?? [], next: answer.LastEvaluatedKey };
}

/** All items of a query, page by page. */
export async function queryAll(store: Store, options: QueryOptions): Promise<Item[]> {
  const items: Item[] = [];
  let after: Item | undefined;
  do {
    const page = await queryPage(store, after === undefined ? options : { ...options, after });
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

function conditionInput(condition: Condition | undefined): {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
} {
  if (condition === undefined) return {};
  const names = namesIn(condition.expression);
  return {
    ConditionExpression: condition.expression,
    ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
    ...(condition.values === undefined ? {} : { ExpressionAttributeValues: condition.values }),
  };
}

function namesIn(expression: string): Record<string, string> {
  const names: Record<string, string> = {};
  for (const [placeholder, name] of expression.matchAll(/#([A-Za-z_]\w*)/g)) {
    if (name !== undefined) names[placeholder] = name;
  }
  return names;
}

/** Holds for a key that has no item yet. */
export const ABSENT: Condition = { expression: 'attribute_not_exists(#pk)' };
