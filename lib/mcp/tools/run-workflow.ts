import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { json, params, revision, runStatus, stepErrors, workflowId } from './schemas.ts';

const DEFAULT_WAIT_SECONDS = 25;
const MAX_WAIT_SECONDS = 50;

export const runWorkflow = defineTool({
  name: 'run_workflow',
  description:
    'Run a workflow without a model in the loop. Still RUNNING after `wait` seconds: follow it with get_run.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({
    id: workflowId,
    params,
    wait: z.number().min(0).max(MAX_WAIT_SECONDS).default(DEFAULT_WAIT_SECONDS),
    idempotencyKey: z.string().min(1).max(256).optional().describe('same key, same run'),
    revision: revision.optional(),
    dryRun: z.boolean().optional().describe('resolve templates, call only read-only tools'),
  }),
  output: z.looseObject({
    runId: z.string().optional(),
    status: runStatus.optional(),
    output: json.optional(),
    summary: json.optional(),
    errors: stepErrors.optional(),
  }),
  links: (answer) =>
    answer.summary === undefined ? [] : [{ uri: `run://${answer.runId ?? ''}/output`, name: 'output' }],
  async run(args, { env, principal, ...context }) {
    const { runWorkflow } = await import('../../engine/run-workflow.ts');
    return runWorkflow(env, principal, { ...args, ...context });
  },
});
