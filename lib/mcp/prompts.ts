/**
 * `design_workflow`: everything an agent must know to write a blueprint that works, in as few tokens as possible. Each
 * line is there because agents make that mistake without it.
 */
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { EngineConfig, EngineEnvironment } from '../engine/environment.ts';
import type { Principal } from '../store/records.ts';
import { protocolError } from './faults.ts';
import { authorize, scopeChallenge } from './scopes.ts';

const DESIGN_PROMPT = 'design_workflow';

/** What there is to explore with, by the deployment's mode of `call_tool`. */
const EXPLORE: Readonly<Record<EngineConfig['callTool'], string>> = {
  all: 'list_tools {query}; call_tool each tool you will use once, also for the empty and the missing case. `value` in the answer is what steps.ID will be.',
  'read-only':
    'list_tools {query}; call_tool each read-only tool you will use once (others cannot be tried here), also for the empty and the missing case. `value` in the answer is what steps.ID will be.',
  off: 'list_tools {query} gives schemas. Tools cannot be tried here: expect the empty and the missing case of each.',
};

/** The prompt where tools can be tried as `mode` says. */
export function designWorkflow(mode: EngineConfig['callTool']): string {
  return `${HEAD}
1 EXPLORE. ${EXPLORE[mode]}
${REST}`;
}

const HEAD = `Write a blueprint: JSON that runs MCP tool calls with no model in the loop.
`;

const REST = `2 PLAN in stages: fetch, shape, write, report. Prefer two flat loops to a loop in a loop, and one call with rows to a call a row.
3 WRITE
{"id":"my-flow","params":{"ns":{"type":"string","default":"prod"}},
 "errorStrategy":{"onStepFailure":"continue","maxRetries":2},
 "steps":[
  {"id":"pods","type":"call","tool":"k8s/list_pods","params":{"namespace":"{{ params.ns }}"},"parse":"json"},
  {"id":"each","type":"loop","over":"{{ steps.pods.items[?phase == 'Failed'] || \`[]\` }}","as":"pod","concurrency":4,
   "do":{"id":"logs","type":"call","tool":"get_logs","params":{"name":"{{ pod.name }}"},"select":{"pod":"{{ pod.name }}","log":"{{ output }}"}}}],
 "output":{"failed":"{{ length(steps.each || \`[]\`) }}","logs":"{{ steps.each }}","errors":"{{ run.errors }}"}}
Steps: call (tool, params, parse, select | workflow, params), loop (over|while+max, as, do, concurrency, maxItems), parallel (branches), pipe (steps; {{ input }} is the step before), collect (steps, select; {id: value}). Every step: id, when, failWhen, errorStrategy, timeoutSeconds.
- steps.X is the value, results.X how it went: {status, error, attempts, ms}, of a loop also {count, failed, skipped, items}.
- parse: json|yaml|lines|text|structured|raw on every call whose tool has no output schema.
- {{ }} is JMESPath. A string that is one template keeps its type. Roots: params, steps, results, run, input, index, the loop's name; output in select, failWhen, while.
- Inside [] a bare name is the item's field; everything else is $.: items[?ns == $.params.ns].
- 'strings', \`numbers, true, null, []\`, "fields". Write x || \`[]\` before length, join, over. [?..] | [0] for the first.
- An argument that comes out null is left out. Keep an item beside its result with select.
- Pass values as arguments; never splice them into queries.
- Say for each step what its failure does: onStepFailure abort (default) | continue | retry. Only what is read-only, idempotent or marked retryUnknown is repeated when its outcome is unknown.
- Put counts and run.errors into output.
4 validate_workflow, fix every error and read every warning; create_workflow; run_workflow with dryRun shows what it would call.
5 From then on run_workflow {id, params} is all it costs.`;

export const DESIGN_WORKFLOW = designWorkflow('all');

export function registerPrompts(server: McpServer, env: EngineEnvironment, principal: Principal): void {
  server.registerPrompt(
    DESIGN_PROMPT,
    {
      description: 'How to turn a task into a blueprint.',
      argsSchema: z.object({ task: z.string().optional().describe('what the workflow is to do') }),
      scopeChallenge: scopeChallenge(principal, 'prompt', DESIGN_PROMPT),
    },
    ({ task }) => {
      try {
        authorize(principal, 'prompt', DESIGN_PROMPT);
      } catch (error) {
        throw protocolError(env, DESIGN_PROMPT, error);
      }
      const goal = task === undefined ? '' : `\n\nThe task: ${task}`;
      return {
        messages: [
          { role: 'user', content: { type: 'text', text: `${designWorkflow(env.config.callTool)}${goal}` } },
        ],
      };
    },
  );
}
