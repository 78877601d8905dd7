import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { params, workflowId } from './schemas.ts';

export const scheduleWorkflow = defineTool({
  name: 'schedule_workflow',
  description:
    'Make, change or delete a schedule of a workflow; with `id` alone list them. Pins the current revision.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    id: workflowId,
    name: z.string().optional().describe('default "default"'),
    schedule: z.string().optional().describe('cron(0 2 * * ? *), rate(1 hour), at(2030-01-31T08:30:00)'),
    timezone: z.string().optional().describe('IANA name, default UTC'),
    params,
    enabled: z.boolean().optional(),
    delete: z.boolean().optional(),
  }),
  output: z.looseObject({
    id: z.string(),
    schedules: z.array(z.looseObject({ name: z.string(), enabled: z.boolean() })),
  }),
  async run(args, { env, principal }) {
    const { scheduleWorkflow } = await import('../../engine/schedules.ts');
    return scheduleWorkflow(env, principal, args);
  },
});
