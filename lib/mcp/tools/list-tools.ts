import { z } from 'zod';
import { defineTool } from '../tool.ts';

export const listTools = defineTool({
  name: 'list_tools',
  description: 'Downstream tools that blueprints can call. Few matches come with their schemas.',
  annotations: { readOnlyHint: true },
  input: z.strictObject({
    server: z.string().optional(),
    query: z.string().optional().describe('words in the name or description'),
    cursor: z.string().optional(),
  }),
  output: z.looseObject({ tools: z.array(z.looseObject({ name: z.string(), server: z.string() })) }),
  async run(args, { env, principal }) {
    const { listTools } = await import('../../engine/explore.ts');
    return listTools(env, principal, args);
  },
});
