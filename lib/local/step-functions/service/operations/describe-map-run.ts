/**
 * DescribeMapRun. Counts are those of the children that were started, one item each; limits are those of the Map state
 * in the definition, 0 where it computes them.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../../blueprint/json.ts';
import { resourceNotFound } from '../api-error.ts';
import { parseMapRunArn } from '../arns.ts';
import { type Operation, type ServiceContext, seconds } from '../context.ts';
import { LONG_ARN, readParameters } from '../parameters.ts';
import type { MapRun } from '../storage/map-runs.ts';

export const describeMapRun: Operation = async (context, input) => {
  const request = readParameters(input, { mapRunArn: LONG_ARN });
  const { label } = parseMapRunArn(request.mapRunArn);
  const run = context.mapRuns.get(request.mapRunArn);
  const parent = run === undefined ? undefined : await context.executions.load(run.executionArn);
  if (run === undefined || parent === undefined) throw resourceNotFound(request.mapRunArn);
  const state = findMap(JSON.parse(await context.machines.getDefinition(parent.definition)) as Json, label);
  const number = (field: string): number => {
    const value = state?.[field];
    return typeof value === 'number' ? value : 0;
  };
  const counts = countChildren(context, run);
  const answer: JsonObject = {
    mapRunArn: run.mapRunArn,
    executionArn: run.executionArn,
    status: run.status,
    startDate: seconds(run.startDate),
    maxConcurrency: number('MaxConcurrency'),
    toleratedFailurePercentage: number('ToleratedFailurePercentage'),
    toleratedFailureCount: number('ToleratedFailureCount'),
    itemCounts: counts,
    executionCounts: counts,
    redriveCount: run.redriveCount,
  };
  if (run.stopDate !== undefined) answer.stopDate = seconds(run.stopDate);
  if (run.redriveDate !== undefined) answer.redriveDate = seconds(run.redriveDate);
  return answer;
};

function countChildren(context: ServiceContext, run: MapRun): JsonObject {
  const counts = {
    pending: 0,
    running: 0,
    succeeded: 0,
    failed: 0,
    timedOut: 0,
    aborted: 0,
    total: 0,
    resultsWritten: 0,
  };
  const field = {
    RUNNING: 'running',
    SUCCEEDED: 'succeeded',
    FAILED: 'failed',
    TIMED_OUT: 'timedOut',
    ABORTED: 'aborted',
  } as const;
  for (const child of context.executions.list(run.mapRunArn)) {
    counts[field[child.status]] += 1;
    counts.total += 1;
  }
  counts.resultsWritten = counts.succeeded; // as recorded on AWS, also without a ResultWriter
  return counts;
}

/** The Map state with this label, or of this name, wherever it stands. */
function findMap(value: Json | undefined, label: string, name?: string): JsonObject | undefined {
  if (Array.isArray(value)) {
    for (const each of value) {
      const found = findMap(each, label);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  if (value.Type === 'Map' && (value.Label === label || (value.Label === undefined && name === label)))
    return value;
  for (const [key, each] of Object.entries(value)) {
    const found = findMap(each, label, key);
    if (found !== undefined) return found;
  }
  return undefined;
}
