import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { diagnostics, jsonObject } from './schemas.ts';

export const createWorkflow = defineTool({
  name: 'create_workflow',
  description: 'Save a blueprint as the next revision of its id. All errors are reported at once.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ blueprint: jsonObject.describe('see prompt design_workflow') }),
  output: z.looseObject({ id: z.string(), revision: z.number(), hash: z.string(), warnings: diagnostics }),
  async run({ blueprint }, { env, principal }) {
    const { saveBlueprint } = await import('../../engine/save.ts');
    return saveBlueprint(env, principal, blueprint);
  },
});
