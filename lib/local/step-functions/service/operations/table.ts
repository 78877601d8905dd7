/** The operations by the name they have on the wire; what is not here is `UnknownOperationException`. */
import type { Operation } from '../context.ts';
import { createStateMachine } from './create-state-machine.ts';
import { deleteStateMachine } from './delete-state-machine.ts';
import { deleteStateMachineVersion } from './delete-state-machine-version.ts';
import { describeExecution } from './describe-execution.ts';
import { describeMapRun } from './describe-map-run.ts';
import { describeStateMachine } from './describe-state-machine.ts';
import { describeStateMachineForExecution } from './describe-state-machine-for-execution.ts';
import { getExecutionHistory } from './get-execution-history.ts';
import { listExecutions } from './list-executions.ts';
import { listMapRuns } from './list-map-runs.ts';
import { listStateMachineVersions } from './list-state-machine-versions.ts';
import { listStateMachines } from './list-state-machines.ts';
import { publishStateMachineVersion } from './publish-state-machine-version.ts';
import { redriveExecution } from './redrive-execution.ts';
import { startExecution } from './start-execution.ts';
import { stopExecution } from './stop-execution.ts';
import { listTagsForResource, tagResource, untagResource } from './tag-resource.ts';
import { updateStateMachine } from './update-state-machine.ts';
import { validateStateMachineDefinition } from './validate-state-machine-definition.ts';

export const OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ['CreateStateMachine', createStateMachine],
  ['UpdateStateMachine', updateStateMachine],
  ['PublishStateMachineVersion', publishStateMachineVersion],
  ['ListStateMachineVersions', listStateMachineVersions],
  ['DeleteStateMachineVersion', deleteStateMachineVersion],
  ['DescribeStateMachine', describeStateMachine],
  ['ListStateMachines', listStateMachines],
  ['DeleteStateMachine', deleteStateMachine],
  ['ValidateStateMachineDefinition', validateStateMachineDefinition],
  ['StartExecution', startExecution],
  ['DescribeExecution', describeExecution],
  ['ListExecutions', listExecutions],
  ['StopExecution', stopExecution],
  ['RedriveExecution', redriveExecution],
  ['GetExecutionHistory', getExecutionHistory],
  ['DescribeStateMachineForExecution', describeStateMachineForExecution],
  ['ListMapRuns', listMapRuns],
  ['DescribeMapRun', describeMapRun],
  ['TagResource', tagResource],
  ['UntagResource', untagResource],
  ['ListTagsForResource', listTagsForResource],
]);
