/** What a dry run answers is paid for in tokens: values by their shape once they are large, and an end to the list. */
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import type { DryRunStep } from '../explore-protocol.ts';
import { hasUnknown } from './partial.ts';

const MAX_STEPS = 60;
/** JSON bytes of one value or argument that are shown as they are. */
const MAX_VALUE_BYTES = 400;
const MAX_OUTPUT_BYTES = 4096;
/** All values and arguments together; steps after that are listed without. */
const MAX_SHOWN_BYTES = 16 * 1024;
const MAX_FIELDS = 20;
const MAX_TEXT = 120;

export interface DryRunList {
  steps: DryRunStep[];
  omitted: number;
  /** The entry as it is listed, to be added to; undefined where the list is full. */
  add(step: DryRunStep): DryRunStep | undefined;
}

export function createList(): DryRunList {
  let shown = 0;
  const list: DryRunList = {
    steps: [],
    omitted: 0,
    add(step) {
      if (list.steps.length >= MAX_STEPS) {
        list.omitted += 1;
        return undefined;
      }
      const { arguments: args, value, ...rest } = step;
      const parts: Pick<DryRunStep, 'arguments' | 'value'> = {
        ...(args === undefined ? {} : { arguments: boundedFields(args) }),
        ...(value === undefined || hasUnknown(value) ? {} : { value: bounded(value) }),
      };
      shown += bytesOf(parts as JsonObject);
      const listed = shown > MAX_SHOWN_BYTES ? rest : { ...rest, ...parts };
      list.steps.push(listed);
      return listed;
    },
  };
  return list;
}

export function boundedOutput(output: Json): Json {
  return bytesOf(output) <= MAX_OUTPUT_BYTES ? output : boundedFields(output);
}

/** Each field by itself, so that one large argument does not hide the others. */
function boundedFields(value: Json): Json {
  if (!isJsonObject(value) || bytesOf(value) <= MAX_VALUE_BYTES) return bounded(value);
  const fields = Object.entries(value).slice(0, MAX_FIELDS);
  return Object.fromEntries(fields.map(([name, field]) => [name, bounded(field)]));
}

/** The value, or what there is to say of it: `{"text": "…", "bytes": 70000}`, `{"array": 300, "first": …}`. */
function bounded(value: Json): Json {
  const bytes = bytesOf(value);
  if (bytes <= MAX_VALUE_BYTES) return value;
  if (typeof value === 'string') return { text: `${value.slice(0, MAX_TEXT)}…`, bytes };
  if (Array.isArray(value)) {
    const [first = null] = value;
    return bytesOf(first) <= MAX_VALUE_BYTES / 2
      ? { array: value.length, first, bytes }
      : { array: value.length, bytes };
  }
  const names = Object.keys(value as JsonObject);
  return { fields: names.slice(0, MAX_FIELDS), count: names.length, bytes };
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}
