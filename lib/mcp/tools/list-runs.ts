import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { cursor, nextCursor, runId, runStatus } from './schemas.ts';

export const listRuns = defineTool({
  name: 'list_runs',
  description: 'Runs, newest first. A page can be empty and have a nextCursor.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({ workflow: z.string().optional(), status: runStatus.optional(), cursor }),
  output: z.looseObject({ runs: z.array(z.looseObject({ runId, status: runStatus })), nextCursor }),
  async run(args, { env, principal }) {
    const { listRuns } = await import('../../engine/runs.ts');
    return listRuns(env, principal, args);
  },
});
