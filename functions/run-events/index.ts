/** What Lambda loads as run-events. Its asset has the documents of the stack's blueprints below `blueprints/`, by their hashes. */
import { readFile } from 'node:fs/promises';
import type { Context } from 'aws-lambda';
import type { BlueprintDocument } from '../../lib/blueprint/types.ts';
import { createAwsTelemetry } from '../../lib/telemetry/aws.ts';
import { openEngine } from '../engine.ts';
import { Environment } from '../environment.ts';
import { createRunEvents } from './handler.ts';

const environment = new Environment(process.env);
const { telemetry, log, during } = createAwsTelemetry();
const env = openEngine(environment, {
  telemetry,
  log,
  cursorSecret: () => Promise.reject(new Error('run-events makes no cursors')),
  machineRoleArn: undefined,
});

const answer = createRunEvents(env, {
  // Written into the asset at synth; the hash is one by its form.
  readStackDocument: async (hash) =>
    JSON.parse(
      await readFile(new URL(`./blueprints/${hash}.json`, import.meta.url), 'utf8'),
    ) as BlueprintDocument,
});

export const handler = (event: unknown, context: Context) => during(context, () => answer(event));
