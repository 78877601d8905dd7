import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { diagnostics, jsonObject } from './schemas.ts';

export const validateWorkflow = defineTool({
  name: 'validate_workflow',
  description:
    'Check a blueprint, or a saved workflow, without saving. Errors block saving, warnings do not.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    blueprint: jsonObject.optional(),
    id: z.string().optional(),
  }),
  output: z.looseObject({
    valid: z.boolean(),
    errors: diagnostics,
    warnings: diagnostics,
    estimate: z.looseObject({}).optional(),
  }),
  async run(args, { env, principal }) {
    const { validateWorkflow } = await import('../../engine/validate.ts');
    return validateWorkflow(env, principal, args);
  },
});
