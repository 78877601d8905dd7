import { z } from 'zod';
import { validateWorkflow as validate } from '../../engine/validate.ts';
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
  run: (args, { env, principal }) => validate(env, principal, args),
});
