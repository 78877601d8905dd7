/** What Lambda loads as mcp-endpoint. The global `awslambda` is the runtime's own. */
import type {} from 'aws-lambda';
import { createEndpoint } from '../../lib/mcp/endpoint.ts';
import { SILENT } from '../../lib/telemetry/telemetry.ts';
import { openEngine } from '../engine.ts';
import { Environment } from '../environment.ts';
import { VARIABLES } from '../variables.ts';
import { createMcpEndpoint } from './handler.ts';

const environment = new Environment(process.env);
const log = (entry: object): void => console.log(JSON.stringify(entry));
const env = openEngine(environment, {
  telemetry: SILENT,
  log,
  cursorSecret: () => Promise.reject(new Error('not yet')),
  machineRoleArn: environment.text(VARIABLES.machineRoleArn),
});
const endpoint = createEndpoint(env, () => undefined);

export const handler = awslambda.streamifyResponse(
  createMcpEndpoint({ endpoint, http: awslambda.HttpResponseStream, log }),
);
