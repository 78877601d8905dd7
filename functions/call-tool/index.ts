/** What Lambda loads as call-tool. Its asset has `mcp.json` beside it, and below `servers/` the stdio servers. */
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { loadServers } from '../../lib/downstream/config.ts';
import { createPool } from '../../lib/downstream/pool.ts';
import { limitsOf } from '../../lib/steps/limits.ts';
import { SILENT } from '../../lib/telemetry/telemetry.ts';
import { stepFunctionsOf, storeOf } from '../clients.ts';
import { Environment } from '../environment.ts';
import { VARIABLES } from '../variables.ts';
import { createCallTool } from './handler.ts';

const environment = new Environment(process.env);
// Only /tmp can be written in a function.
const servers = loadServers({
  file: fileURLToPath(new URL('./mcp.json', import.meta.url)),
  dataFolder: tmpdir(),
});

export const handler = createCallTool({
  store: storeOf(environment),
  pool: createPool(servers),
  sfn: stepFunctionsOf(environment),
  serversHash: environment.text(VARIABLES.serversHash),
  limits: limitsOf(process.env),
  now: Date.now,
  log: (entry) => console.log(JSON.stringify(entry)),
  telemetry: SILENT,
});
