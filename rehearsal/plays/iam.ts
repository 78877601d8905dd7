/** AWS_IAM: the function URL lets in the principals of the prop, the endpoint gives each its scopes. */
import { SCOPES, type Scope } from '../../lib/engine/principals.ts';
import { LOCAL_ACCOUNT } from '../../lib/store/aws-config.ts';
import { parsePolicy } from '../iam/policy.ts';
import type { Play } from '../plays.ts';
import { callTool } from '../raw-call.ts';
import { oneCall } from '../scenarios/blueprints.ts';
import { eachScopeAlone } from '../scenarios/scopes.ts';
import { ask, check, runTo, type Scenario, save } from '../stage.ts';

const nameOf = (scope: Scope): string => `agents-${scope.replace(':', '-')}`;
const arnOf = (name: string): string => `arn:aws:iam::${LOCAL_ACCOUNT}:role/${name}`;

/** As a client signs; the access key stands for the role. */
const signedBy = (name: string): Record<string, string> => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${name}/20261130/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=0`,
});

const rolesAndScopes: Scenario = {
  name: 'a role opens what its scopes say',
  run: (stage) => eachScopeAlone(stage, (scope) => signedBy(nameOf(scope))),
};

const agentsWork: Scenario = {
  name: 'a role saves and runs a workflow',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, oneCall('of-a-role'));
    const run = await runTo(agent, 'SUCCEEDED', 'of-a-role');
    check(
      JSON.stringify(await ask(agent, 'get_run', { runId: String(run.runId) })) !== '',
      'the run is readable',
    );
  },
};

const strangers: Scenario = {
  name: 'strangers are refused, by Lambda or by the endpoint',
  async run(stage) {
    const { permissions, callers, world } = stage.deployment;
    const [url] = world.urls;
    check(url !== undefined, 'there is a function URL');
    // Its own policy opens the door of the account's function; the endpoint knows it not.
    permissions.addRole({ arn: arnOf('outsider'), name: 'outsider', label: 'outsider', trust: [] });
    const own = {
      Effect: 'Allow',
      Action: ['lambda:InvokeFunctionUrl', 'lambda:InvokeFunction'],
      Resource: url.functionArn,
    };
    permissions.attach(
      'outsider',
      parsePolicy('identity', { Version: '2012-10-17', Statement: [own] }, 'outsider'),
    );
    callers.set('outsider', sessionOf('outsider'));
    callers.set('nobody', sessionOf('nobody'));
    for (const [who, headers] of [
      ['an unsigned request', {}],
      ['a role that no policy lets in', signedBy('nobody')],
      ['a role that the endpoint does not know', signedBy('outsider')],
    ] as const) {
      const { status } = await callTool(stage.mcp, headers, 'list_workflows', {});
      check(status === 403, `${who} should be answered with 403`, { status });
    }
  },
};

/** Who a session of a role is, as Lambda tells it. */
function sessionOf(name: string): { arn: string; userArn: string } {
  return { arn: arnOf(name), userArn: `arn:aws:sts::${LOCAL_ACCOUNT}:assumed-role/${name}/session` };
}

export const iamPlay: Play = {
  name: 'iam',
  props: {
    auth: {
      mode: 'iam',
      principals: Object.fromEntries(SCOPES.map((scope) => [arnOf(nameOf(scope)), { scopes: [scope] }])),
    },
    callTool: 'all',
  },
  admin({ callers }) {
    for (const scope of SCOPES) callers.set(nameOf(scope), sessionOf(nameOf(scope)));
    return Promise.resolve(signedBy(nameOf('admin')));
  },
  scenarios: [rolesAndScopes, agentsWork, strangers],
};
