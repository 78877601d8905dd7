/**
 * Each scope alone, against every tool: what it opens answers, everything else says which scope it wants. The table is
 * lib/mcp/scopes.ts; how a caller gets its scopes is the play's.
 */

import type { JsonObject } from '../../lib/blueprint/json.ts';
import { SCOPES, type Scope } from '../../lib/engine/principals.ts';
import { ACCESS } from '../../lib/mcp/scopes.ts';
import type { Deployment } from '../deploy.ts';
import { callTool } from '../raw-call.ts';
import { check, type Scenario, type Stage } from '../stage.ts';
import { mint } from '../tokens.ts';

/** Arguments that a tool understands and that change nothing: there are no such things. */
const HARMLESS: Readonly<Record<string, JsonObject>> = {
  create_workflow: { blueprint: { id: 'incomplete' } },
  run_workflow: { id: 'no-such' },
  list_workflows: {},
  get_workflow: { id: 'no-such' },
  validate_workflow: { id: 'no-such' },
  delete_workflow: { id: 'no-such' },
  get_run: { runId: 'no-such' },
  list_runs: {},
  cancel_run: { runId: 'no-such' },
  schedule_workflow: { id: 'no-such' },
  list_tools: {},
  call_tool: { tool: 'filesystem/no_such', params: {} },
};

/** Goes through the table for callers with one scope each. */
export async function eachScopeAlone(
  stage: Stage,
  headersOf: (scope: Scope) => Record<string, string> | Promise<Record<string, string>>,
): Promise<void> {
  for (const scope of SCOPES) {
    const headers = await headersOf(scope);
    for (const [tool, wanted] of Object.entries(ACCESS.tool)) {
      const args = HARMLESS[tool];
      check(args !== undefined, `the scenario knows no arguments for ${tool}`);
      const { refusedFor } = await callTool(stage.mcp, headers, tool, args);
      const open = scope === wanted || scope === 'admin';
      check(
        open ? refusedFor === undefined : refusedFor === wanted,
        `${scope} alone should ${open ? 'open' : 'not open'} ${tool}`,
        { refusedFor },
      );
    }
  }
}

const tokens = new Map<Scope, Record<string, string>>();

/** Tokens are made before the first request: the endpoint looks for new ones every ten seconds only. */
export async function tokensOfScopes(deployment: Deployment): Promise<void> {
  for (const scope of SCOPES) {
    tokens.set(scope, await mint(deployment, `only-${scope.replace(':', '-')}`, [scope]));
  }
}

export const scopesOfTokens: Scenario = {
  name: 'a token opens what its scopes say; a bad one nothing',
  async run(stage) {
    await eachScopeAlone(stage, (scope) => tokens.get(scope) ?? {});
    const good = stage.admin.authorization ?? '';
    const bad: Record<string, string>[] = [
      {},
      { authorization: `${good.slice(0, -4)}AAAA` },
      { authorization: good.replace('Bearer', 'Basic') },
      { authorization: 'Bearer mwe_abcdefghijkm_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
    ];
    for (const headers of bad) {
      const { status } = await callTool(stage.mcp, headers, 'list_workflows', {});
      check(status === 401, 'a bad token should be answered with 401', { status });
    }
    const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', stage.mcp));
    check(metadata.status === 404, 'bearer tokens advertise no OAuth metadata', metadata.status);
  },
};
