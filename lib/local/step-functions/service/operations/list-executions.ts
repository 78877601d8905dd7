/** ListExecutions, latest first: of a machine, of one of its versions, or of a map run's children. */
import type { JsonObject } from '../../../../blueprint/json.ts';
import { ApiError } from '../../../api-error.ts';
import { resourceNotFound, validationException } from '../api-error.ts';
import { checkMapRunArn } from '../arns.ts';
import { type Operation, type ServiceContext, seconds } from '../context.ts';
import { decodeToken, encodeToken, pageSize, takePage } from '../pages.ts';
import { LONG_NEXT_TOKEN, MAX_RESULTS, readParameters } from '../parameters.ts';
import { findRevision } from '../revisions.ts';
import type { ExecutionSummary } from '../storage/executions.ts';

export const listExecutions: Operation = async (context, input) => {
  const request = readParameters(input, {
    stateMachineArn: { type: 'string', min: 1, max: 256 },
    mapRunArn: { type: 'string', min: 1, max: 2000 },
    statusFilter: {
      type: 'string',
      values: ['SUCCEEDED', 'TIMED_OUT', 'PENDING_REDRIVE', 'ABORTED', 'FAILED', 'RUNNING'],
    },
    redriveFilter: { type: 'string', values: ['REDRIVEN', 'NOT_REDRIVEN'] },
    maxResults: MAX_RESULTS,
    nextToken: LONG_NEXT_TOKEN,
  });
  const { stateMachineArn, mapRunArn, statusFilter, redriveFilter } = request;
  if ((stateMachineArn === undefined) === (mapRunArn === undefined)) {
    throw validationException('Either a state machine ARN or a Map Run ARN must be specified, but not both');
  }
  if (statusFilter === 'PENDING_REDRIVE' && mapRunArn === undefined) {
    throw validationException('The PENDING_REDRIVE status filter can only be used with a Map Run ARN');
  }
  const ofOwner =
    mapRunArn === undefined ? ofMachine(context, stateMachineArn ?? '') : ofMapRun(context, mapRunArn);
  const query = ['ListExecutions', stateMachineArn, mapRunArn, statusFilter, redriveFilter];
  const before = decodeToken(query, request.nextToken, context.clock.now());
  const { page, more } = takePage(
    ofOwner,
    pageSize(request.maxResults),
    (each) =>
      (typeof before !== 'number' || each.sequence < before) &&
      (statusFilter === undefined || each.status === statusFilter) &&
      (redriveFilter === undefined || (redriveFilter === 'REDRIVEN') === each.redriveCount > 0),
  );
  const answer: JsonObject = { executions: page.map(item) };
  const last = page.at(-1);
  if (more && last !== undefined) answer.nextToken = encodeToken(query, last.sequence, context.clock.now());
  return answer;
};

function* ofMachine(context: ServiceContext, arn: string): Iterable<ExecutionSummary> {
  const { machine, version } = findRevision(context.machines, arn);
  if (machine.type === 'EXPRESS') {
    throw new ApiError(
      'StateMachineTypeNotSupported',
      'This operation is not supported by this type of state machine',
    );
  }
  for (const each of context.executions.list(machine.arn)) {
    if (version === undefined || each.stateMachineVersionArn === arn) yield each;
  }
}

function* ofMapRun(context: ServiceContext, arn: string): Iterable<ExecutionSummary> {
  checkMapRunArn(arn);
  if (context.mapRuns.get(arn) === undefined) throw resourceNotFound(arn);
  yield* context.executions.list(arn);
}

function item(summary: ExecutionSummary): JsonObject {
  const entry: JsonObject = {
    executionArn: summary.executionArn,
    stateMachineArn: summary.stateMachineArn,
    name: summary.name,
    status: summary.status,
    startDate: seconds(summary.startDate),
    redriveCount: summary.redriveCount,
  };
  if (summary.stopDate !== undefined) entry.stopDate = seconds(summary.stopDate);
  if (summary.redriveDate !== undefined) entry.redriveDate = seconds(summary.redriveDate);
  if (summary.stateMachineVersionArn !== undefined)
    entry.stateMachineVersionArn = summary.stateMachineVersionArn;
  if (summary.mapRunArn !== undefined) {
    entry.mapRunArn = summary.mapRunArn;
    entry.itemCount = 1; // a child without ItemBatcher has one item; batches are not counted here
  }
  return entry;
}
