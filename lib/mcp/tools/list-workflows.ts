import { z } from 'zod';
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
  async run(args, { env, principal }) {
    const { listWorkflows } = await import('../../engine/workflows.ts');
    return listWorkflows(env, principal, args.cursor);
  },
});
