/** The function URL and who may call it, in the three modes; what the endpoint is told of them. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { readable, resource, statementsOf, type Template, templateOf } from './synthesized.ts';

const AGENTS = 'arn:aws:iam::123456789012:role/team/agents';
const OPS = 'arn:aws:iam::123456789012:user/ops';
const BEARER = { mode: 'bearer' };
const IAM = {
  mode: 'iam',
  principals: {
    [AGENTS]: { scopes: ['workflows:read', 'runs:start'], tools: ['k8s/*'] },
    [OPS]: { scopes: ['admin'] },
  },
};
const OAUTH = { mode: 'oauth', issuer: 'https://issuer.example.com', audience: 'https://mcp.example.com' };

/** Permissions of the endpoint, in their order. */
function permissions(template: Template): unknown[] {
  return Object.entries(template.Resources)
    .filter(([id, { Type }]) => Type === 'AWS::Lambda::Permission' && id.startsWith('McpEndpoint'))
    .map(([, { Properties }]) => readable(Properties));
}

function variables(template: Template): Record<string, unknown> {
  const { Properties } = resource(template, 'AWS::Lambda::Function', 'McpEndpoint');
  const { Variables } = Properties.Environment as JsonObject;
  return readable(Variables) as Record<string, unknown>;
}

const both = (Principal: string, FunctionUrlAuthType: string) => [
  {
    FunctionName: '<McpEndpointFunction.Arn>',
    Principal,
    Action: 'lambda:InvokeFunctionUrl',
    FunctionUrlAuthType,
  },
  {
    FunctionName: '<McpEndpointFunction.Arn>',
    Principal,
    Action: 'lambda:InvokeFunction',
    InvokedViaFunctionUrl: true,
  },
];

describe.each([
  ['bearer', BEARER, 'NONE', both('*', 'NONE')],
  ['iam', IAM, 'AWS_IAM', [...both(AGENTS, 'AWS_IAM'), ...both(OPS, 'AWS_IAM')]],
  ['oauth', OAUTH, 'NONE', both('*', 'NONE')],
])('%s', (mode, auth, AuthType, expected) => {
  it('has a URL that streams and knows no CORS', async () => {
    const template = await templateOf({ auth });
    expect(readable(resource(template, 'AWS::Lambda::Url', 'McpEndpoint').Properties)).toEqual({
      AuthType,
      InvokeMode: 'RESPONSE_STREAM',
      TargetFunctionArn: '<McpEndpointFunction.Arn>',
    });
  });

  it('lets its callers in by both permissions and by no other', async () => {
    expect(permissions(await templateOf({ auth }))).toEqual(expected);
  });

  it('tells the endpoint, and gives it the secrets that it needs', async () => {
    const template = await templateOf({ auth });
    const told: unknown = JSON.parse(String(variables(template).MWE_AUTH));
    expect(told).toEqual(mode === 'bearer' ? { mode, secretArn: '<SecretsTokens>' } : auth);
    const secrets = mode === 'bearer' ? ['<SecretsCursorKey>', '<SecretsTokens>'] : '<SecretsCursorKey>';
    expect(statementsOf(template, 'McpEndpointFunctionRole').OwnSecrets).toMatchObject({ Resource: secrets });
    const made = Object.values(template.Resources).filter(
      ({ Type }) => Type === 'AWS::SecretsManager::Secret',
    );
    expect(made).toHaveLength(mode === 'bearer' ? 2 : 1);
    expect('TokenSecret' in template.Outputs).toBe(mode === 'bearer');
  });
});
