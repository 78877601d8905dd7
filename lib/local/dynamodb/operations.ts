/**
 * DynamoDB's operations as dynalite carries them out, without dynalite's HTTP server: that one answers any `Host`, lets
 * any origin read, ends the process where a client goes away in the middle of a body, and keeps its database open where it
 * cannot listen.
 */
import { createRequire } from 'node:module';
import db from 'dynalite/db/index.js';
import validations, { type Validation } from 'dynalite/validations/index.js';

const NAMES = [
  'BatchGetItem',
  'BatchWriteItem',
  'CreateTable',
  'DeleteItem',
  'DeleteTable',
  'DescribeTable',
  'DescribeTimeToLive',
  'GetItem',
  'ListTables',
  'PutItem',
  'Query',
  'Scan',
  'UpdateItem',
  'UpdateTable',
] as const;

type Action = (
  store: DynaliteStore,
  input: object,
  done: (error: DynaliteError | null, output?: object) => void,
) => void;

/** A request that DynamoDB refuses: the answer's status and JSON. */
export class DynamoDbError extends Error {
  readonly status: number;
  readonly body: object;

  constructor(status: number, body: object) {
    super(JSON.stringify(body));
    this.name = 'DynamoDbError';
    this.status = status;
    this.body = body;
  }
}

export interface Tables {
  /** Carries out an operation; throws `DynamoDbError` where DynamoDB would refuse. Undefined: there is no such operation. */
  perform(operation: string, input: object): Promise<object> | undefined;
  /** Waits for operations in flight and closes the database. */
  close(): Promise<void>;
}

/** Opens the database in a folder (in memory where absent). Throws where it is locked or damaged. */
export async function openTables(folder: string | undefined): Promise<Tables> {
  const store = db.create({
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
    ...(folder === undefined ? {} : { path: folder }),
  });
  await store.db.open();
  const load = createRequire(import.meta.url);
  const operations = new Map(
    NAMES.map((name) => {
      const file = `${name.charAt(0).toLowerCase()}${name.slice(1)}.js`;
      return [
        name as string,
        {
          act: load(`dynalite/actions/${file}`) as Action,
          validation: load(`dynalite/validations/${file}`) as Validation,
        },
      ];
    }),
  );
  const known = withKnownTables(store);
  const running = new Set<Promise<object>>();

  return {
    perform(name, input) {
      const operation = operations.get(name);
      if (operation === undefined) return undefined;
      const onTables = name.endsWith('Table');
      if (onTables) known.forget();
      const using = onTables ? store : known.store;
      const work = perform(using, operation.act, operation.validation, input).then(async (output) => {
        if (name === 'CreateTable') await becomeActive(store, (input as { TableName: string }).TableName);
        if (onTables) known.forget();
        return output;
      });
      running.add(work);
      const done = (): void => void running.delete(work);
      work.then(done, done);
      return work;
    },
    async close() {
      await Promise.allSettled(running);
      await store.db.close();
    },
  };
}

function perform(store: DynaliteStore, act: Action, validation: Validation, input: object): Promise<object> {
  return new Promise((resolve, reject) => {
    const fail = (error: DynaliteError): void => {
      const { statusCode, body } = error;
      reject(statusCode === undefined || body === undefined ? error : new DynamoDbError(statusCode, body));
    };
    try {
      const checked = validations.checkTypes(input, validation.types);
      validations.checkValidations(checked, validation.types, validation.custom, store);
      act(store, checked, (error, output) => {
        if (error !== null && error !== undefined) fail(error);
        else resolve(output ?? {});
      });
    } catch (error) {
      fail(error as DynaliteError);
    }
  });
}

/**
 * The store with its tables' definitions in memory. dynalite reads and decodes them from disk for every operation, and
 * for every key of a batch.
 */
function withKnownTables(store: DynaliteStore): { store: DynaliteStore; forget(): void } {
  const tables = new Map<string, DynaliteTable>();
  let generation = 0;
  const getTable: DynaliteStore['getTable'] = (name, checkStatus, done) => {
    const answer = typeof checkStatus === 'function' ? checkStatus : done;
    const table = tables.get(name);
    if (table !== undefined) {
      queueMicrotask(() => answer?.(null, table));
      return;
    }
    const asked = generation;
    store.getTable(name, checkStatus, (error, found) => {
      if (error === null && found?.TableStatus === 'ACTIVE' && asked === generation) tables.set(name, found);
      answer?.(error, found);
    });
  };
  return {
    store: { ...store, getTable },
    forget: () => {
      generation += 1;
      tables.clear();
    },
  };
}

/**
 * Makes a new table ACTIVE before its creation is answered. dynalite does it by a timer; a process that ends before would
 * leave a table that never leaves CREATING.
 */
async function becomeActive(store: DynaliteStore, name: string): Promise<void> {
  const table = await new Promise<DynaliteTable | undefined>((resolve, reject) => {
    store.tableDb.get(name, (error, found) => (error === null ? resolve(found) : reject(error)));
  });
  if (table === undefined) return;
  table.TableStatus = 'ACTIVE';
  for (const index of table.GlobalSecondaryIndexes ?? []) index.IndexStatus = 'ACTIVE';
  await new Promise<void>((resolve, reject) => {
    store.tableDb.put(name, table, (error) => (error === null ? resolve() : reject(error)));
  });
}
