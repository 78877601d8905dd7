/** What a dry run answers is paid for in tokens: values by their shape once they are large, and an end to the list. */
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import type { DryRunStep } from '../explore-protocol.ts';
import { bytesOf, sampleOf } from '../sample.ts';
import { hasUnknown } from './partial.ts';

const MAX_STEPS = 60;
/** JSON bytes of one value or argument that are shown as they are. */
const MAX_VALUE_BYTES = 400;
const MAX_OUTPUT_BYTES = 4096;
/** All values and arguments together; steps after that are listed without. */
const MAX_SHOWN_BYTES = 16 * 1024;
const MAX_FIELDS = 20;

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
        ...(value === undefined || hasUnknown(value) ? {} : { value: sampleOf(value, MAX_VALUE_BYTES) }),
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
  if (!isJsonObject(value) || bytesOf(value) <= MAX_VALUE_BYTES) return sampleOf(value, MAX_VALUE_BYTES);
  const fields = Object.entries(value).slice(0, MAX_FIELDS);
  return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, MAX_VALUE_BYTES)]));
}
