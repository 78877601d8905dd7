/** Bearer tokens, the default: everything that agents, people, timers and schedules do. */
import { SCOPES } from '../../lib/engine/principals.ts';
import type { Play } from '../plays.ts';
import { agentsLife } from '../scenarios/agents-life.ts';
import { cancelled } from '../scenarios/cancelled.ts';
import { consoleStarts } from '../scenarios/console-starts.ts';
import { demo } from '../scenarios/demo.ts';
import { largeValues } from '../scenarios/large-values.ts';
import { lookedUp } from '../scenarios/looked-up.ts';
import { mapped } from '../scenarios/mapped.ts';
import { olderClient } from '../scenarios/older-client.ts';
import { redriven } from '../scenarios/redriven.ts';
import { scheduled } from '../scenarios/scheduled.ts';
import { scopesOfTokens, tokensOfScopes } from '../scenarios/scopes.ts';
import { stackUpdated } from '../scenarios/stack-updated.ts';
import { subWorkflow } from '../scenarios/sub-workflow.ts';
import { mint } from '../tokens.ts';

export const bearerPlay: Play = {
  name: 'bearer',
  props: {
    auth: { mode: 'bearer' },
    callTool: 'all',
    deletionProtection: false,
    // One principal does what many would: whoever waits here looks four times a second.
    limits: { requestsPerMinute: 10_000 },
  },
  async admin(deployment) {
    await tokensOfScopes(deployment);
    return mint(deployment, 'admin', SCOPES);
  },
  scenarios: [
    agentsLife,
    olderClient,
    demo,
    subWorkflow,
    mapped,
    largeValues,
    scheduled,
    consoleStarts,
    cancelled,
    redriven,
    lookedUp,
    scopesOfTokens,
    // Last: the functions' assets are others from here on.
    stackUpdated,
  ],
};
