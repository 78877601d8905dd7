/**
 * What a scenario stands on: agents that talk to the function URL, a person with the console (an administrator, whose calls are not
 * judged), and ways to wait for what happens by itself.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeExecutionCommand, type ExecutionStatus } from '@aws-sdk/client-sfn';
import type { Json, JsonObject } from '../lib/blueprint/json.ts';
import { type Agent, connectAgent } from '../lib/cli/agent.ts';
import type { Deployment } from './deploy.ts';
import type { Assembly } from './template/assembly.ts';

export interface Stage {
  deployment: Deployment;
  /** URL of the MCP endpoint. */
  mcp: string;
  /** Connects an agent; it is closed when the scenario ends. */
  agent(headers: Record<string, string>): Promise<Agent>;
  /** Headers of whoever may do everything. */
  admin: Record<string, string>;
  /** Synthesizes the stack with the same props and these blueprints, by their file names. */
  synthesizeWith(blueprints: Readonly<Record<string, JsonObject>>): Promise<Assembly>;
}

export interface Scenario {
  name: string;
  run(stage: Stage): Promise<void>;
}

/** Something is not as the scenario wants it. */
export class ScenarioFailure extends Error {
  override readonly name = 'ScenarioFailure';
}

export function createStage(
  given: Pick<Stage, 'deployment' | 'admin' | 'synthesizeWith'>,
): Stage & { close(): Promise<void> } {
  const agents: Agent[] = [];
  const mcp = `${given.deployment.url}/mcp`;
  return {
    ...given,
    mcp,
    async agent(headers) {
      const agent = await connectAgent(mcp, headers);
      agents.push(agent);
      return agent;
    },
    async close() {
      await Promise.all(agents.splice(0).map((agent) => agent.close()));
    },
  };
}

/** Throws where it is not so. */
export function check(condition: boolean, what: string, got?: unknown): asserts condition {
  if (condition) return;
  throw new ScenarioFailure(got === undefined ? what : `${what}; got ${JSON.stringify(got).slice(0, 600)}`);
}

/** Calls a tool and answers what it said; throws where that is an error. */
export async function ask(agent: Agent, tool: string, args: JsonObject): Promise<JsonObject> {
  const { answer, isError } = await agent.call(tool, args);
  check(!isError, `${tool} is refused`, answer);
  return answer;
}

/** Calls a tool that must be refused; answers the refusal. */
export async function refused(agent: Agent, tool: string, args: JsonObject): Promise<JsonObject> {
  const { answer, isError } = await agent.call(tool, args);
  check(isError, `${tool} should be refused`, answer);
  return answer;
}

/** Saves a blueprint. */
export function save(agent: Agent, blueprint: JsonObject): Promise<JsonObject> {
  return ask(agent, 'create_workflow', { blueprint });
}

/** Runs a workflow to its end, which must be `status`; answers get_run's answer with the output. */
export async function runTo(
  agent: Agent,
  status: string,
  id: string,
  params: JsonObject = {},
  more: JsonObject = {},
): Promise<JsonObject> {
  const started = await ask(agent, 'run_workflow', { id, params, ...more });
  const ended = await agent.follow(String(started.runId), () => undefined);
  check(ended.status === status, `the run of ${id} should be ${status}`, ended);
  return { ...ended, runId: String(started.runId) };
}

/** Looks again until there is an answer. What is awaited happens by itself, and soon; the limit is for a fault. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  limitMs = 30_000,
): Promise<T> {
  const until = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    check(Date.now() < until, `${what} did not happen within ${limitMs / 1000} s`);
    await sleep(250);
  }
}

/** Waits until a run has this status, as get_run tells it. */
export function runBecomes(agent: Agent, runId: string, status: string): Promise<JsonObject> {
  return eventually(`run ${runId} becoming ${status}`, async () => {
    const run = await ask(agent, 'get_run', { runId });
    return run.status === status ? run : undefined;
  });
}

/** Waits for an execution to end and answers how. */
export function executionEnds(stage: Stage, executionArn: string): Promise<ExecutionStatus> {
  const { sfn } = stage.deployment.world.clients;
  return eventually(`the end of ${executionArn}`, async () => {
    const { status } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
    return status === undefined || status === 'RUNNING' || status === 'PENDING_REDRIVE' ? undefined : status;
  });
}

/** A field of an answer that must be a text. */
export function textAt(answer: JsonObject, name: string): string {
  const value = answer[name];
  check(typeof value === 'string', `the answer should have a text "${name}"`, answer);
  return value;
}

/** A field of an answer that must be a list of objects. */
export function rowsAt(answer: JsonObject, name: string): JsonObject[] {
  const value: Json | undefined = answer[name];
  check(Array.isArray(value), `the answer should have a list "${name}"`, answer);
  return value as JsonObject[];
}
