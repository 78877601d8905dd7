/** What Lambda loads as call-tool. Its asset has `mcp.json` beside it, and below `servers/` the stdio servers. */
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Context } from 'aws-lambda';
import { loadServers } from '../../lib/downstream/config.ts';
import { createPool } from '../../lib/downstream/pool.ts';
import { readFromSecretsManager } from '../../lib/downstream/secrets-manager.ts';
import { limitsOf } from '../../lib/steps/limits.ts';
import { valueLink } from '../../lib/store/console-links.ts';
import { createAwsTelemetry } from '../../lib/telemetry/aws.ts';
import { regionOf, secretsManagerOf, stepFunctionsOf, storeOf } from '../clients.ts';
import { Environment } from '../environment.ts';
import { VARIABLES } from '../variables.ts';
import { createCallTool } from './handler.ts';

const environment = new Environment(process.env);
// Only /tmp can be written in a function.
const servers = loadServers({
  file: fileURLToPath(new URL('./mcp.json', import.meta.url)),
  dataFolder: tmpdir(),
});

const places = {
  region: regionOf(environment),
  table: environment.text(VARIABLES.table),
  bucket: environment.text(VARIABLES.bucket),
};

const { telemetry, log, during } = createAwsTelemetry();
const answer = createCallTool({
  store: storeOf(environment),
  pool: createPool(servers, {
    readSecret: readFromSecretsManager({ client: () => secretsManagerOf(environment) }),
  }),
  sfn: stepFunctionsOf(environment),
  serversHash: environment.text(VARIABLES.serversHash),
  limits: limitsOf(process.env),
  now: Date.now,
  log,
  telemetry,
  inspect:
    environment.oneOf(VARIABLES.inspect, ['links', 'values'], 'links') === 'values'
      ? { mode: 'values' }
      : { mode: 'links', linkOf: (location) => valueLink(places, location) },
});

export const handler = (event: unknown, context: Context) => during(context, () => answer(event, context));
