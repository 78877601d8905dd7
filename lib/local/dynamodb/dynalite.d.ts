/** dynalite ships no types: what of it is used here. */
interface DynaliteStore {
  db: { open(): Promise<void>; close(): Promise<void> };
  /** `checkStatus` may be left out: `done` is then the second argument. */
  getTable(name: string, checkStatus: boolean | DynaliteTableAnswer, done?: DynaliteTableAnswer): void;
  tableDb: {
    get(name: string, done: DynaliteTableAnswer): void;
    put(name: string, table: DynaliteTable, done: (error: Error | null) => void): void;
  };
}

type DynaliteTableAnswer = (error: Error | null, table?: DynaliteTable) => void;

interface DynaliteTable {
  TableStatus: string;
  GlobalSecondaryIndexes?: { IndexStatus: string }[];
}

/** A refusal as DynamoDB answers it; any other error is a defect. */
interface DynaliteError extends Error {
  statusCode?: number;
  body?: object;
}

declare module 'dynalite/db/index.js' {
  const db: {
    create(options: {
      /** Folder of the LevelDB store; in memory where absent. */
      path?: string;
      createTableMs: number;
      deleteTableMs: number;
      updateTableMs: number;
    }): DynaliteStore;
  };
  export default db;
}

declare module 'dynalite/validations/index.js' {
  interface Validation {
    types: object;
    custom?: unknown;
  }
  const validations: {
    checkTypes(input: object, types: object): object;
    checkValidations(input: object, types: object, custom: unknown, store: DynaliteStore): void;
  };
  export default validations;
  export type { Validation };
}
