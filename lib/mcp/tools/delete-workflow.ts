import { z } from 'zod';
import { deleteWorkflow as remove } from '../../engine/workflows.ts';
import { defineTool } from '../tool.ts';
import { workflowId } from './schemas.ts';

export const deleteWorkflow = defineTool({
  name: 'delete_workflow',
  description: 'Delete a workflow. What runs goes on; runs stay readable.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ id: workflowId }),
  output: z.looseObject({ id: z.string(), deleted: z.boolean() }),
  run: (args, { env, principal }) => remove(env, principal, args.id),
});
