/** DescribeExecution. */
import type { JsonObject } from '../../../../blueprint/json.ts';
import { type Operation, seconds } from '../context.ts';
import { loadExecution } from '../executions.ts';
import { ARN, INCLUDED_DATA, readParameters } from '../parameters.ts';
import { redriveStanding } from '../redrive-standing.ts';

export const describeExecution: Operation = async (context, input) => {
  const request = readParameters(input, { executionArn: ARN, includedData: INCLUDED_DATA });
  const record = await loadExecution(context, request.executionArn);
  const machineStatus = context.machines.get(record.stateMachineArn)?.status;
  const standing = redriveStanding(record, machineStatus, context.clock.now());
  const answer: JsonObject = {
    executionArn: record.executionArn,
    stateMachineArn: record.stateMachineArn,
    name: record.name,
    status: record.status,
    startDate: seconds(record.startDate),
    redriveCount: record.redriveCount,
    redriveStatus: standing.status,
  };
  if (standing.reason !== undefined) answer.redriveStatusReason = standing.reason;
  if (record.stopDate !== undefined) answer.stopDate = seconds(record.stopDate);
  if (record.redriveDate !== undefined) answer.redriveDate = seconds(record.redriveDate);
  if (record.stateMachineVersionArn !== undefined)
    answer.stateMachineVersionArn = record.stateMachineVersionArn;
  if (record.mapRunArn !== undefined) answer.mapRunArn = record.mapRunArn;
  if (record.traceHeader !== undefined) answer.traceHeader = record.traceHeader;
  if (request.includedData === 'METADATA_ONLY') return answer;
  answer.input = record.input;
  answer.inputDetails = { included: true };
  if (record.output !== undefined) {
    answer.output = record.output;
    answer.outputDetails = { included: true };
  }
  if (record.error !== undefined) answer.error = record.error;
  if (record.cause !== undefined) answer.cause = record.cause;
  return answer;
};
