/** What Lambda loads as run-events. */
import { SILENT } from '../../lib/telemetry/telemetry.ts';
import { openEngine } from '../engine.ts';
import { Environment } from '../environment.ts';
import { createRunEvents } from './handler.ts';

const environment = new Environment(process.env);
const env = openEngine(environment, {
  telemetry: SILENT,
  log: (entry) => console.log(JSON.stringify(entry)),
  cursorSecret: () => Promise.reject(new Error('run-events makes no cursors')),
  machineRoleArn: undefined,
});

export const handler = createRunEvents(env);
