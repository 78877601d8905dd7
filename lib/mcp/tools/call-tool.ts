import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { params, runId } from './schemas.ts';

export const callTool = defineTool({
  name: 'call_tool',
  description: 'Try one downstream tool; `value` is what steps.ID would be.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({ tool: z.string().describe('name or server/name'), params }),
  output: z.looseObject({ runId, server: z.string(), tool: z.string(), isError: z.boolean() }),
  async run(args, { env, principal, hops, heldUntil }) {
    const { callTool } = await import('../../engine/try-tool.ts');
    return callTool(env, principal, { ...args, hops, heldUntil });
  },
});
