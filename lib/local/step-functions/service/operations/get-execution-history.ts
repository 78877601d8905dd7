/** GetExecutionHistory, in pages, from either end, with or without inputs and outputs. */
import type { Json, JsonObject } from '../../../../blueprint/json.ts';
import { isJsonObject } from '../../../../blueprint/json.ts';
import type { HistoryEvent } from '../../contract.ts';
import type { Operation } from '../context.ts';
import { loadExecution } from '../executions.ts';
import { decodeToken, encodeToken, pageSize } from '../pages.ts';
import { ARN, MAX_RESULTS, NEXT_TOKEN, readParameters } from '../parameters.ts';

const DATA_FIELDS = new Set([
  'input',
  'inputDetails',
  'output',
  'outputDetails',
  'parameters',
  'assignedVariables',
  'assignedVariablesDetails',
]);

export const getExecutionHistory: Operation = async (context, input) => {
  const request = readParameters(input, {
    executionArn: ARN,
    maxResults: MAX_RESULTS,
    nextToken: NEXT_TOKEN,
    reverseOrder: { type: 'boolean' },
    includeExecutionData: { type: 'boolean' },
  });
  const { executionArn } = await loadExecution(context, request.executionArn);
  const reverse = request.reverseOrder ?? false;
  const size = pageSize(request.maxResults);
  const path = context.executions.historyPath(executionArn);
  const count = await context.history.count(path);
  const query = ['GetExecutionHistory', executionArn, reverse];
  const position = decodeToken(query, request.nextToken, context.clock.now());
  // The id of the last event of the page before.
  const after = typeof position === 'number' ? position : reverse ? count + 1 : 0;
  const from = reverse ? Math.max(1, after - size) : after + 1;
  const to = reverse ? after - 1 : Math.min(count, after + size);
  const events = await context.history.read(path, from, to);
  if (reverse) events.reverse();
  const shown = request.includeExecutionData === false ? events.map(withoutData) : events;
  const answer: JsonObject = { events: shown as unknown as Json[] };
  const last = events.at(-1);
  if (last !== undefined && (reverse ? from > 1 : to < count)) {
    answer.nextToken = encodeToken(query, last.id, context.clock.now());
  }
  return answer;
};

function withoutData(event: HistoryEvent): HistoryEvent {
  const entries = Object.entries(event).map(([key, value]) =>
    isJsonObject(value)
      ? [key, Object.fromEntries(Object.entries(value).filter(([name]) => !DATA_FIELDS.has(name)))]
      : [key, value],
  );
  return Object.fromEntries(entries) as HistoryEvent;
}
