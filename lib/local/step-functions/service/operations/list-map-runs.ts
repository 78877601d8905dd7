/** ListMapRuns: the map runs that an execution started, in that order. */
import type { JsonObject } from '../../../../blueprint/json.ts';
import { type Operation, seconds } from '../context.ts';
import { loadExecution } from '../executions.ts';
import { decodeToken, encodeToken, pageSize, takePage } from '../pages.ts';
import { ARN, MAX_RESULTS, NEXT_TOKEN, readParameters } from '../parameters.ts';

export const listMapRuns: Operation = async (context, input) => {
  const request = readParameters(input, {
    executionArn: ARN,
    maxResults: MAX_RESULTS,
    nextToken: NEXT_TOKEN,
  });
  const { executionArn } = await loadExecution(context, request.executionArn);
  const query = ['ListMapRuns', executionArn];
  const after = decodeToken(query, request.nextToken, context.clock.now());
  const runs = context.mapRuns.ofExecution(executionArn).map((run, index) => ({ run, index }));
  const { page, more } = takePage(
    runs,
    pageSize(request.maxResults),
    ({ index }) => typeof after !== 'number' || index > after,
  );
  const answer: JsonObject = {
    mapRuns: page.map(({ run }) => {
      const entry: JsonObject = {
        executionArn: run.executionArn,
        mapRunArn: run.mapRunArn,
        stateMachineArn: run.stateMachineArn,
        startDate: seconds(run.startDate),
      };
      if (run.stopDate !== undefined) entry.stopDate = seconds(run.stopDate);
      return entry;
    }),
  };
  const last = page.at(-1);
  if (more && last !== undefined) answer.nextToken = encodeToken(query, last.index, context.clock.now());
  return answer;
};
