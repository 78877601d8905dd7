/** DescribeStateMachineForExecution: the revision that the execution runs, whatever the machine has become since. */
import type { JsonObject } from '../../../../blueprint/json.ts';
import { type Operation, seconds } from '../context.ts';
import { loadExecution } from '../executions.ts';
import { ARN, INCLUDED_DATA, readParameters } from '../parameters.ts';
import { LOGGING_OFF, TRACING_OFF } from './create-state-machine.ts';

export const describeStateMachineForExecution: Operation = async (context, input) => {
  const request = readParameters(input, { executionArn: ARN, includedData: INCLUDED_DATA });
  const record = await loadExecution(context, request.executionArn);
  const machine = context.machines.get(record.stateMachineArn);
  const answer: JsonObject = {
    stateMachineArn: record.stateMachineArn,
    name: record.stateMachineName,
    definition:
      request.includedData === 'METADATA_ONLY'
        ? '{}'
        : await context.machines.getDefinition(record.definition),
    roleArn: record.roleArn,
    updateDate: seconds(record.machineUpdateDate),
    loggingConfiguration: machine?.loggingConfiguration ?? LOGGING_OFF,
    tracingConfiguration: machine?.tracingConfiguration ?? TRACING_OFF,
  };
  if (record.revisionId !== undefined) answer.revisionId = record.revisionId;
  if (record.mapRunArn !== undefined) answer.mapRunArn = record.mapRunArn;
  if (record.label !== undefined) answer.label = record.label;
  return answer;
};
