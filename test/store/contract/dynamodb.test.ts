/** What the store relies on in DynamoDB, asked by the real SDK. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTables } from '../../../lib/local/dynamodb/operations.ts';
import { startDynamoDb } from '../../../lib/local/dynamodb/service.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../../lib/store/aws-config.ts';
import { createTableInput, INDEXES } from '../../../lib/store/table.ts';
import { freshId, type StandIns, startStandIns } from '../stand-ins.ts';

const TableName = 'mwe';
let standIns: StandIns;
let client: DynamoDBDocumentClient;
beforeAll(async () => {
  standIns = await startStandIns();
  client = standIns.store.table.client;
});
afterAll(() => standIns.stop());

describe('the table', () => {
  it('is as the stack will make it, and active at once', async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    expect(Table).toMatchObject({
      TableStatus: 'ACTIVE',
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    });
    expect(
      Table?.GlobalSecondaryIndexes?.map(({ IndexName, Projection }) => [
        IndexName,
        Projection?.ProjectionType,
      ]).sort(),
    ).toEqual(
      Object.values(INDEXES)
        .map(({ name }) => [name, 'KEYS_ONLY'])
        .sort(),
    );
    await expect(client.send(new CreateTableCommand(createTableInput(TableName)))).rejects.toThrow(
      ResourceInUseException,
    );
    await expect(
      client.send(new GetCommand({ TableName: 'other', Key: { pk: 'a', sk: 'b' } })),
    ).rejects.toThrow(ResourceNotFoundException);
  });

  it('has no transactions, and says so', async () => {
    const command = new TransactWriteItemsCommand({
      TransactItems: [{ Put: { TableName, Item: { pk: { S: 'a' }, sk: { S: 'b' } } } }],
    });
    await expect(client.send(command)).rejects.toMatchObject({ name: 'UnknownOperationException' });
  });
});

describe('conditional writes', () => {
  it('a put of what is absent has one winner', async () => {
    const pk = freshId();
    const puts = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) =>
        client.send(
          new PutCommand({
            TableName,
            Item: { pk, sk: 'x', n },
            ConditionExpression: 'attribute_not_exists(pk)',
          }),
        ),
      ),
    );
    const lost = puts.flatMap((put) => (put.status === 'rejected' ? [put.reason as unknown] : []));
    expect(lost).toHaveLength(9);
    for (const reason of lost) expect(reason).toBeInstanceOf(ConditionalCheckFailedException);
  });

  it('counters lose nothing', async () => {
    const pk = freshId();
    await client.send(new PutCommand({ TableName, Item: { pk, sk: 'x', n: 0 } }));
    await Promise.all(
      Array.from({ length: 20 }, () =>
        client.send(
          new UpdateCommand({
            TableName,
            Key: { pk, sk: 'x' },
            UpdateExpression: 'ADD n :one',
            ConditionExpression: 'n < :max',
            ExpressionAttributeValues: { ':one': 1, ':max': 100 },
          }),
        ),
      ),
    );
    expect((await client.send(new GetCommand({ TableName, Key: { pk, sk: 'x' } }))).Item?.n).toBe(20);
  });

  it.each([
    ['a nested value', '#l.#o = :a', true],
    ['a nested value that differs', '#l.#o = :b', false],
    ['a nested value of nothing', 'nothing.#o = :a', false],
    ['a list of values', '#s IN (:a, :b)', true],
    ['either or', '#s = :b OR attribute_not_exists(nothing)', true],
    ['a comparison with nothing', 'nothing <= :n', false],
  ])('%s', async (_what, ConditionExpression, holds) => {
    const pk = freshId();
    await client.send(new PutCommand({ TableName, Item: { pk, sk: 'x', l: { o: 'a' }, s: 'a' } }));
    const values = { ':a': 'a', ':b': 'b', ':n': 1 };
    const names = { '#l': 'l', '#o': 'o', '#s': 's' };
    const used = <T>(all: Record<string, T>): Record<string, T> =>
      Object.fromEntries(Object.entries(all).filter(([name]) => ConditionExpression.includes(name)));
    const update = client.send(
      new UpdateCommand({
        TableName,
        Key: { pk, sk: 'x' },
        UpdateExpression: 'SET done = :true REMOVE s',
        ConditionExpression,
        ...(Object.keys(used(names)).length > 0 ? { ExpressionAttributeNames: used(names) } : {}),
        ExpressionAttributeValues: { ...used(values), ':true': true },
        ReturnValues: 'ALL_NEW',
      }),
    );
    if (holds) expect((await update).Attributes).toEqual({ pk, sk: 'x', l: { o: 'a' }, done: true });
    else await expect(update).rejects.toThrow(ConditionalCheckFailedException);
  });
});

describe('reading', () => {
  it('a batch of one hundred keys', async () => {
    const pk = freshId();
    const keys = Array.from({ length: 100 }, (_, n) => ({ pk, sk: String(n) }));
    await Promise.all(
      keys.map((key) => client.send(new PutCommand({ TableName, Item: { ...key, text: 'x'.repeat(1000) } }))),
    );
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({ RequestItems: { [TableName]: { Keys: keys, ConsistentRead: true } } }),
    );
    expect(Responses?.[TableName]).toHaveLength(100);
    expect(Object.keys(UnprocessedKeys ?? {})).toEqual([]);
  });

  it('an index holds only what has its keys, in order, page by page', async () => {
    const { name, pk: indexPk, sk: indexSk } = INDEXES.open;
    const partition = freshId();
    for (let n = 0; n < 7; n += 1) {
      await client.send(
        new PutCommand({
          TableName,
          Item: {
            pk: `p${n}-${partition}`,
            sk: 'x',
            [indexPk]: partition,
            [indexSk]: String(9 - n),
            other: 1,
          },
        }),
      );
    }
    await client.send(
      new UpdateCommand({
        TableName,
        Key: { pk: `p3-${partition}`, sk: 'x' },
        UpdateExpression: 'REMOVE #pk, #sk',
        ExpressionAttributeNames: { '#pk': indexPk, '#sk': indexSk },
      }),
    );
    const seen: unknown[] = [];
    let ExclusiveStartKey: Record<string, unknown> | undefined;
    do {
      const page = await client.send(
        new QueryCommand({
          TableName,
          IndexName: name,
          KeyConditionExpression: '#pk = :pk',
          ExpressionAttributeNames: { '#pk': indexPk },
          ExpressionAttributeValues: { ':pk': partition },
          Limit: 2,
          ExclusiveStartKey,
        }),
      );
      for (const item of page.Items ?? []) {
        expect(Object.keys(item).sort()).toEqual([indexPk, indexSk, 'pk', 'sk'].sort());
        seen.push(item.pk);
      }
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
    expect(seen).toEqual([6, 5, 4, 2, 1, 0].map((n) => `p${n}-${partition}`));
  });

  it('a query goes past a megabyte in pages', async () => {
    const pk = freshId();
    for (let n = 0; n < 8; n += 1) {
      await client.send(new PutCommand({ TableName, Item: { pk, sk: `W#${n}`, text: 'x'.repeat(300_000) } }));
    }
    const query = {
      TableName,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :w)',
      ExpressionAttributeValues: { ':pk': pk, ':w': 'W#' },
    };
    const first = await client.send(new QueryCommand({ ...query, ConsistentRead: true }));
    expect(first.LastEvaluatedKey).toBeDefined();
    expect(first.Items?.length).toBeLessThan(8);
  });
});

describe('a data folder', () => {
  it('keeps the tables, for one process at a time', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mwe-ddb-'));
    const Item = { pk: { S: 'a' }, sk: { S: 'b' }, n: { N: '1' } };
    for (const _start of [1, 2]) {
      const server = await startDynamoDb({ folder, tables: [createTableInput(TableName)] });
      const direct = new DynamoDBClient(
        clientConfig({ region: LOCAL_REGION, endpoint: server.url, credentials: LOCAL_CREDENTIALS }),
      );
      if (_start === 1) await direct.send(new PutItemCommand({ TableName, Item }));
      expect(
        (await direct.send(new GetItemCommand({ TableName, Key: { pk: Item.pk, sk: Item.sk } }))).Item,
      ).toEqual(Item);
      await expect(openTables(folder)).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
      direct.destroy();
      await server.close();
    }
    await rm(folder, { recursive: true, force: true });
  });
});
