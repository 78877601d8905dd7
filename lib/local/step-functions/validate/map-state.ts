/** Map: its processor and mode, what only a distributed one has, and its limits. */
import { isJsonObject } from '../../../blueprint/json.ts';
import {
  checkType,
  isExpression,
  MAX_SECONDS,
  missingFields,
  number,
  only,
  unknownFields,
} from './fields.ts';
import type { StateCheck } from './surroundings.ts';

/** Tolerated failures are not among them: the service takes them for an inline map as well. */
const DISTRIBUTED_ONLY = ['ItemReader', 'ItemBatcher', 'ResultWriter', 'Label'];
const READERS = /^arn:[^:]+:states:::s3:(getObject|listObjectsV2)$/;

export function checkMap(check: StateCheck): void {
  const { state, location, own, type, report } = check;
  const field =
    state.ItemProcessor === undefined && state.Iterator !== undefined ? 'Iterator' : 'ItemProcessor';
  if (state.ItemProcessor !== undefined && state.Iterator !== undefined) {
    report.schema('There should only be one of the following fields: [ItemProcessor, Iterator]', location);
  }
  missingFields(state, [field], location, report);
  let mode = 'INLINE';
  const processor = state[field];
  if (checkType(state, field, 'object', location, report) && isJsonObject(processor)) {
    const place = `${location}/${field}`;
    unknownFields(processor, ['ProcessorConfig', 'StartAt', 'States', 'Comment'], place, report);
    const { ProcessorConfig: config } = processor;
    if (checkType(processor, 'ProcessorConfig', 'object', place, report) && isJsonObject(config)) {
      only(config, 'Mode', ['INLINE', 'DISTRIBUTED'], `${place}/ProcessorConfig`, report);
      if (config.Mode === 'DISTRIBUTED') {
        mode = 'DISTRIBUTED';
        unknownFields(config, ['Mode', 'ExecutionType'], `${place}/ProcessorConfig`, report);
        missingFields(config, ['ExecutionType'], `${place}/ProcessorConfig`, report);
        only(config, 'ExecutionType', ['STANDARD', 'EXPRESS'], `${place}/ProcessorConfig`, report);
      } else {
        unknownFields(config, ['Mode'], `${place}/ProcessorConfig`, report);
      }
    }
  }
  if (mode === 'DISTRIBUTED' && type === 'EXPRESS') {
    report.schema("Express state machine does not support Map state in 'DISTRIBUTED' mode", location);
  }
  for (const each of DISTRIBUTED_ONLY) {
    if (mode === 'INLINE' && state[each] !== undefined)
      report.schema(`Field '${each}' is not supported`, location);
  }
  checkItems(check);
  const expressions = own === 'JSONata';
  const count = { min: 0, max: MAX_SECONDS, integer: true, expressions };
  number(state, 'MaxConcurrency', count, location, report);
  number(state, 'ToleratedFailureCount', count, location, report);
  number(
    state,
    'ToleratedFailurePercentage',
    { min: 0, max: 100, integer: false, expressions },
    location,
    report,
  );
  const { Label: label } = state;
  // Source: developer guide, "Using Map state in Distributed mode", Label.
  if (
    label !== undefined &&
    (typeof label !== 'string' || !/^[^\s?*<>{}[\]:;,\\|^~$#%&`"\p{Cc}]{1,40}$/u.test(label))
  ) {
    report.add('INVALID_LABEL_NAME', 'The label is not valid', `${location}/Label`);
  }
}

function checkItems(check: StateCheck): void {
  const { state, location, own, report } = check;
  const { Items: items, ItemReader: reader } = state;
  if (
    own === 'JSONata' &&
    items !== undefined &&
    !Array.isArray(items) &&
    !isExpression(items) &&
    !isJsonObject(items)
  ) {
    report.schema('Value must be an array, an object or a valid JSONata expression', `${location}/Items`);
  }
  if (!checkType(state, 'ItemReader', 'object', location, report) || !isJsonObject(reader)) return;
  missingFields(reader, ['Resource'], `${location}/ItemReader`, report);
  if (
    reader.Resource !== undefined &&
    !(typeof reader.Resource === 'string' && READERS.test(reader.Resource))
  ) {
    report.schema(
      "The field 'Resource' does not match any of the allowed values. Examples: [arn:<partition>:states:::s3:getObject, arn:<partition>:states:::s3:listObjectsV2]",
      `${location}/ItemReader/Resource`,
    );
  }
}
