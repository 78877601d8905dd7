import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { jsonObject, params, workflowId } from './schemas.ts';

export const scheduleWorkflow = defineTool({
  name: 'schedule_workflow',
  description: 'Schedule the current revision of a workflow; `id` alone lists.',
  annotations: { readOnlyHint: false, idempotentHint: true },
  input: z.strictObject({
    id: workflowId,
    name: z.string().optional(),
    schedule: z.string().optional().describe("EventBridge Scheduler's cron(0 2 * * ? *), rate() or at()"),
    timezone: z.string().optional(),
    params,
    enabled: z.boolean().optional(),
    delete: z.boolean().optional(),
  }),
  output: z.looseObject({ id: z.string(), schedules: z.array(jsonObject) }),
  async run(args, { env, principal }) {
    const { scheduleWorkflow } = await import('../../engine/schedules.ts');
    return scheduleWorkflow(env, principal, args);
  },
});
