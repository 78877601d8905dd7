import { z } from 'zod';
import { listWorkflows as list } from '../../engine/workflows.ts';
import { defineTool } from '../tool.ts';
import { cursor, nextCursor } from './schemas.ts';

export const listWorkflows = defineTool({
  name: 'list_workflows',
  description: 'The saved workflows.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({ cursor }),
  output: z.looseObject({
    workflows: z.array(z.looseObject({ id: z.string(), revision: z.number() })),
    nextCursor,
  }),
  run: (args, { env, principal }) => list(env, principal, args.cursor),
});
