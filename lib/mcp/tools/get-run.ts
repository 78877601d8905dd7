import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { cursor, json, nextCursor, runId, runStatus } from './schemas.ts';

export const getRun = defineTool({
  name: 'get_run',
  description: "A run's status, progress and steps; with `step` that step's value.",
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    runId,
    step: z
      .string()
      .optional()
      .describe('path, e.g. pods or pods/00012/describe; or $output, $errors, $params'),
    cursor,
  }),
  output: z.looseObject({ runId, status: runStatus, nextCursor, summary: json.optional() }),
  links: ({ runId, summary, at }) =>
    summary === undefined || typeof at !== 'string'
      ? []
      : [{ uri: `run://${runId}/value/${at}`, name: 'value' }],
  async run(args, { env, principal }) {
    const { getRun } = await import('../../engine/runs.ts');
    return getRun(env, principal, args);
  },
});
