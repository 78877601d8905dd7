import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { workflowId } from './schemas.ts';

export const deleteWorkflow = defineTool({
  name: 'delete_workflow',
  description: 'Delete a workflow. What runs goes on; runs stay readable.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ id: workflowId }),
  output: z.looseObject({ id: z.string(), deleted: z.boolean() }),
  async run(args, { env, principal }) {
    const { deleteWorkflow } = await import('../../engine/workflows.ts');
    return deleteWorkflow(env, principal, args.id);
  },
});
