import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { json, revision, workflowId } from './schemas.ts';

export const getWorkflow = defineTool({
  name: 'get_workflow',
  description: 'A workflow with its blueprint.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    id: workflowId,
    revision: revision.optional(),
    machine: z.boolean().optional().describe('also the compiled state machine'),
  }),
  output: z.looseObject({
    id: z.string(),
    revision: z.number(),
    blueprint: json.optional(),
    summary: json.optional(),
  }),
  links(answer) {
    const uri = `workflow://${answer.id}/revisions/${answer.revision}`;
    const machine = { uri: `${uri}/machine`, name: 'machine' };
    return [
      ...(answer.summary === undefined ? [] : [{ uri, name: 'blueprint' }]),
      ...(answer.machineSummary === undefined ? [] : [machine]),
    ];
  },
  async run(args, { env, principal }) {
    const { showWorkflow } = await import('../../engine/workflows.ts');
    return showWorkflow(env, principal, args);
  },
});
