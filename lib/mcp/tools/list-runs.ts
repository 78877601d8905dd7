import { z } from 'zod';
import { listRuns as list } from '../../engine/runs.ts';
import { defineTool } from '../tool.ts';
import { cursor, nextCursor, runId, runStatus } from './schemas.ts';

export const listRuns = defineTool({
  name: 'list_runs',
  description: 'Runs, newest first.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({ workflow: z.string().optional(), status: runStatus.optional(), cursor }),
  output: z.looseObject({ runs: z.array(z.looseObject({ runId, status: runStatus })), nextCursor }),
  run: (args, { env, principal }) => list(env, principal, args),
});
