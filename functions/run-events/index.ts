/** What Lambda loads as run-events. */
import type { Context } from 'aws-lambda';
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

const answer = createRunEvents(env);

export const handler = (event: unknown, context: Context) => during(context, () => answer(event));
