/**
 * What a task's answer shows of its step's value to people who look at the execution: the value itself, a link for those who may
 * read it where it is stored, or nothing. Values in history are the deployment's choice (`inspect`), never the default.
 */
import type { Json } from '../blueprint/json.ts';
import type { TaskAnswer } from '../compile/protocol.ts';
import type { ValueLocation } from '../store/console-links.ts';
import { readResults } from '../store/journal.ts';
import { valueKey, windowKey } from '../store/keys.ts';
import type { StoredValue } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { describeValue, getValue } from '../store/values.ts';

/** How values are shown. */
export type Inspect =
  | { mode: 'none' }
  | { mode: 'links'; linkOf(location: ValueLocation): string }
  | { mode: 'values' };

/** Step Functions passes 256 KiB on; larger values are read in the store. */
const MAX_SHOWN_BYTES = 32 * 1024;
/** Items of a loop that are read to be shown. */
const MAX_SHOWN_ITEMS = 500;

interface Shown {
  store: Store;
  inspect: Inspect;
}

/** Of a value that has just been stored. */
export function showStored(
  { inspect }: Pick<Shown, 'inspect'>,
  run: string,
  at: string,
  value: Json,
  stored: StoredValue,
): Pick<TaskAnswer, 'value'> {
  switch (inspect.mode) {
    case 'none':
      return {};
    case 'links': {
      const object = 'key' in stored ? { object: stored.key } : {};
      return { value: inspect.linkOf({ key: valueKey(run, at), ...object }) };
    }
    case 'values':
      return fits(value) ? { value } : {};
  }
}

/** Of a value that an earlier delivery stored. */
export async function showRecorded(
  { inspect, store }: Shown,
  run: string,
  at: string,
): Promise<Pick<TaskAnswer, 'value'>> {
  if (inspect.mode === 'none') return {};
  const known = await describeValue(store, run, at);
  if (known === undefined) return {};
  if (inspect.mode === 'links') {
    const object = known.key === undefined ? {} : { object: known.key };
    return { value: inspect.linkOf({ key: valueKey(run, at), ...object }) };
  }
  const value = known.bytes > MAX_SHOWN_BYTES ? undefined : await getValue(store, run, at);
  return value === undefined ? {} : { value };
}

/** Of a loop, whose items stand in its journal: a link leads to the first window of them. */
export async function showLoop(
  { inspect, store }: Shown,
  run: string,
  at: string,
  count: number,
): Promise<Pick<TaskAnswer, 'value'>> {
  if (inspect.mode === 'none') return {};
  if (inspect.mode === 'links')
    return count === 0 ? {} : { value: inspect.linkOf({ key: windowKey(run, at, 0) }) };
  if (count > MAX_SHOWN_ITEMS) return {};
  const value = (await readResults(store, run, at)).map((result) => result.value);
  return fits(value) ? { value } : {};
}

function fits(value: Json): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= MAX_SHOWN_BYTES;
}
