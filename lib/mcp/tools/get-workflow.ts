import { z } from 'zod';
import { getWorkflow as get } from '../../engine/workflows.ts';
import { defineTool } from '../tool.ts';
import { revision, workflowId } from './schemas.ts';

export const getWorkflow = defineTool({
  name: 'get_workflow',
  description: 'A workflow with its blueprint.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    id: workflowId,
    revision: revision.optional(),
    machine: z.boolean().optional().describe('also the compiled state machine'),
  }),
  output: z.looseObject({ id: z.string(), revision: z.number(), blueprint: z.looseObject({}) }),
  run: (args, { env, principal }) => get(env, principal, args),
});
