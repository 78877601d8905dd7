/** OAuth: access tokens of an issuer of our own, good ones with each scope and bad ones. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../lib/cli/project.ts';
import { SCOPES } from '../../lib/engine/principals.ts';
import { ISSUER, type Issuer, startIssuer } from '../issuer.ts';
import type { Play } from '../plays.ts';
import { callTool } from '../raw-call.ts';
import { oneCall } from '../scenarios/blueprints.ts';
import { eachScopeAlone } from '../scenarios/scopes.ts';
import { check, runTo, type Scenario, save } from '../stage.ts';

const AUDIENCE = 'api://workflow-engine';

let issuer: Issuer | undefined;

async function bearing(claims: Readonly<Record<string, unknown>>): Promise<Record<string, string>> {
  if (issuer === undefined) throw new Error('the issuer is not started');
  return { authorization: `Bearer ${await issuer.token(claims)}` };
}

const tokensAndScopes: Scenario = {
  name: 'an access token opens what its scopes say',
  run: (stage) => eachScopeAlone(stage, (scope) => bearing({ scope, sub: `only-${scope}` })),
};

const agentsWork: Scenario = {
  name: 'an access token saves and runs a workflow',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, oneCall('of-a-subject'));
    await runTo(agent, 'SUCCEEDED', 'of-a-subject');
  },
};

const badTokens: Scenario = {
  name: 'bad access tokens are refused, and the metadata is told',
  async run(stage) {
    const scope = SCOPES.join(' ');
    const hour = 3600;
    const now = Math.floor(Date.now() / 1000);
    for (const [what, headers] of [
      ['no token', {}],
      ['another audience', await bearing({ scope, aud: 'api://other' })],
      ['another issuer', await bearing({ scope, iss: 'https://other.example' })],
      ['an expired token', await bearing({ scope, exp: now - hour })],
      ['a token of tomorrow', await bearing({ scope, nbf: now + hour })],
      [
        'a token of ours',
        { authorization: 'Bearer mwe_abcdefghijkm_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
      ],
    ] as const) {
      const answer = await callTool(stage.mcp, headers, 'list_workflows', {});
      const challenge = answer.headers.get('x-amzn-remapped-www-authenticate') ?? '';
      check(answer.status === 401, `${what} should be answered with 401`, { status: answer.status });
      check(
        challenge.includes('resource_metadata='),
        `the refusal of ${what} should name the metadata`,
        challenge,
      );
    }
    const response = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', stage.mcp));
    const metadata = (await response.json()) as { authorization_servers?: string[] };
    check(metadata.authorization_servers?.[0] === ISSUER, 'the metadata should name the issuer', metadata);
  },
};

export const oauthPlay: Play = {
  name: 'oauth',
  props: { auth: { mode: 'oauth', issuer: ISSUER, audience: AUDIENCE }, callTool: 'all' },
  async prepare() {
    issuer = await startIssuer(AUDIENCE);
    const route = pathToFileURL(join(projectRoot(), 'rehearsal', 'route-issuer.mjs')).href;
    return { REHEARSAL_ISSUER: issuer.url, NODE_OPTIONS: `--enable-source-maps --import ${route}` };
  },
  admin: () => bearing({ scope: SCOPES.join(' ') }),
  scenarios: [tokensAndScopes, agentsWork, badTokens],
  async end() {
    await issuer?.close();
  },
};
