import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { runId, runStatus } from './schemas.ts';

export const cancelRun = defineTool({
  name: 'cancel_run',
  description: 'Stop a run. Calls in flight are cancelled where the tool allows it; nothing is rolled back.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ runId }),
  output: z.looseObject({ runId, status: runStatus }),
  async run(args, { env, principal }) {
    const { cancelRun } = await import('../../engine/cancel.ts');
    return cancelRun(env, principal, args.runId);
  },
});
