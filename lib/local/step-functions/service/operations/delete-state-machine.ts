/**
 * DeleteStateMachine. The machine is DELETING until its running executions have been ended; then it, its versions and its
 * executions are gone. The answer does not wait for that, as in the service. Deleting what is not there succeeds.
 */
import { parseStateMachineArn } from '../arns.ts';
import type { Operation, ServiceContext } from '../context.ts';
import { ARN, readParameters } from '../parameters.ts';

export const deleteStateMachine: Operation = async (context, input) => {
  const request = readParameters(input, { stateMachineArn: ARN });
  const { machineArn, version } = parseStateMachineArn(request.stateMachineArn);
  if (version !== undefined) return {};
  await context.turns.take(machineArn, async () => {
    const machine = context.machines.get(machineArn);
    if (machine === undefined || machine.status === 'DELETING') return;
    await context.machines.save({ ...machine, status: 'DELETING' });
  });
  context.inBackground(() => finishDeletion(context, machineArn));
  return {};
};

/** Also what the next start of the service does with a machine that it finds DELETING. */
export async function finishDeletion(context: ServiceContext, machineArn: string): Promise<void> {
  if (context.machines.get(machineArn)?.status !== 'DELETING') return;
  const executions = [...context.executions.list(machineArn)];
  await Promise.all(executions.map((each) => context.runner.stop(each.executionArn, {})));
  const mapRuns = executions.flatMap((each) => context.mapRuns.ofExecution(each.executionArn));
  const children = mapRuns.flatMap((run) => [...context.executions.list(run.mapRunArn)]);
  await Promise.all(children.map((each) => context.runner.stop(each.executionArn, {})));
  for (const each of [...children, ...executions]) await context.executions.remove(each.executionArn);
  await context.turns.take(machineArn, async () => {
    if (context.machines.get(machineArn)?.status === 'DELETING') await context.machines.remove(machineArn);
  });
}
