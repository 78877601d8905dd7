/** What Lambda loads as mcp-endpoint. The global `awslambda` is the runtime's own. */
import type {} from 'aws-lambda';
import { createAuthenticator } from '../../lib/mcp/auth/authenticator.ts';
import { parseAuthConfig } from '../../lib/mcp/auth/config.ts';
import { createEndpoint } from '../../lib/mcp/endpoint.ts';
import { createAwsTelemetry } from '../../lib/telemetry/aws.ts';
import { keptSecret, secretReaderOf } from '../clients.ts';
import { openEngine } from '../engine.ts';
import { Environment } from '../environment.ts';
import { VARIABLES } from '../variables.ts';
import { createMcpEndpoint } from './handler.ts';

const environment = new Environment(process.env);
const readSecret = secretReaderOf(environment);
const { telemetry, log, during } = createAwsTelemetry();
const env = openEngine(environment, {
  telemetry,
  log,
  cursorSecret: keptSecret(readSecret, environment.text(VARIABLES.cursorSecretArn)),
  machineRoleArn: environment.text(VARIABLES.machineRoleArn),
});
const authConfig = environment.checked(VARIABLES.auth, parseAuthConfig);
const authenticator = createAuthenticator(authConfig, {
  readSecret,
  fetch,
  now: Date.now,
});
const endpoint = createEndpoint(env, authenticator, { origins: environment.list(VARIABLES.allowedOrigins) });

// Lambda gives a start more processor than a request has: what every request needs is loaded and tried here. A GET is refused
// before anything is asked, and takes Node's own Request and Response into use.
await Promise.all([
  endpoint.fetch(new Request('https://localhost/mcp')),
  authConfig.mode === 'bearer' ? import('@aws-sdk/client-secrets-manager') : undefined,
]);

const answer = createMcpEndpoint({ endpoint, http: awslambda.HttpResponseStream, log });

export const handler = awslambda.streamifyResponse((event: unknown, stream, context) =>
  during(context, () => answer(event, stream, context)),
);
