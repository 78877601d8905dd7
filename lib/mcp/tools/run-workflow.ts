import { z } from 'zod';
import { inWaitPlace } from '../../engine/admission.ts';
import { dryRunWorkflow } from '../../engine/dry-run.ts';
import { startRun } from '../../engine/start.ts';
import { summarizeRun, waitForRun } from '../../engine/wait.ts';
import { defineTool } from '../tool.ts';
import { json, params, revision, runStatus, stepErrors, workflowId } from './schemas.ts';

const DEFAULT_WAIT_SECONDS = 25;
const MAX_WAIT_SECONDS = 50;
/** Left of the time that a request is held, for the answer. */
const ANSWER_MS = 1000;

export const runWorkflow = defineTool({
  name: 'run_workflow',
  description:
    'Run a workflow without a model in the loop. Still RUNNING after `wait` seconds: follow it with get_run.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
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
  async run(args, { env, principal, signal, hops, progress, heldUntil }) {
    if (args.dryRun === true) return { ...(await dryRunWorkflow(env, principal, { ...args, hops })) };
    if (args.wait === 0) return summarizeRun(env, await startRun(env, principal, { ...args, hops }));
    const ended = await inWaitPlace(env, principal, args.wait, async () => {
      const run = await startRun(env, principal, { ...args, hops });
      // The time that starting took is part of what the request is held.
      const left = heldUntil === undefined ? args.wait : (heldUntil - ANSWER_MS - env.now()) / 1000;
      const seconds = Math.max(0, Math.min(args.wait, left));
      return waitForRun(env, run.run, { seconds, signal, ...(progress ? { progress } : {}) });
    });
    return summarizeRun(env, ended);
  },
});
