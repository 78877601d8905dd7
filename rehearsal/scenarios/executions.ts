/** From what an agent is told of a run to its execution, and what a person does with it in the console. */
import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Agent } from '../../lib/cli/agent.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import { ask, check, eventually, type Stage, textAt } from '../stage.ts';

/** ARN of a run's execution, as its link to the console has it. */
export function executionArn(run: JsonObject): string {
  const arn = textAt(run, 'url').split('/executions/details/')[1];
  check(arn !== undefined, 'the link should name an execution', run.url);
  return decodeURIComponent(arn);
}

/** ARN of a workflow's machine, by the prefix that the functions have. */
export function machineArn(stage: Stage, id: string): string {
  return `arn:aws:states:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stateMachine:${machinePrefix(stage)}${id}`;
}

/** From the template: what the endpoint names its machines with. */
function machinePrefix({ deployment: { world } }: Stage): string {
  for (const { logicalId, type } of world.template.order) {
    if (type !== 'AWS::Lambda::Function') continue;
    const { Environment } = world.template.resourceOf(logicalId).properties;
    const prefix = (Environment as { Variables?: Record<string, string> }).Variables?.MWE_MACHINE_PREFIX;
    if (prefix !== undefined) return prefix;
  }
  throw new Error('no function of the template knows the prefix of machines');
}

/** What "Start execution" in the console does. */
export async function startByHand(stage: Stage, id: string, input: string): Promise<string> {
  const { executionArn: arn } = await stage.deployment.world.clients.sfn.send(
    new StartExecutionCommand({ stateMachineArn: machineArn(stage, id), input }),
  );
  check(arn !== undefined, 'an execution has an ARN');
  return arn;
}

/** Starts a run that takes long, and answers get_run's answer once it has begun to work. */
export async function begun(agent: Agent, id: string): Promise<JsonObject> {
  const started = await ask(agent, 'run_workflow', { id, wait: 0 });
  const runId = textAt(started, 'runId');
  return eventually(`the beginning of ${id}`, async () => {
    const run = await ask(agent, 'get_run', { runId });
    return typeof run.url === 'string' && Number(run.attempts) > 0 ? { ...run, runId } : undefined;
  });
}
