/** IAM principals, as a function URL names them. */
import { describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../lib/mcp/auth/authenticator.ts';
import { AuthConfigError, parseAuthConfig } from '../../../lib/mcp/auth/config.ts';

const ACCOUNT = '123456789012';
const iam = (path: string, account = ACCOUNT, partition = 'aws') =>
  `arn:${partition}:iam::${account}:${path}`;
const session = (role: string, name = 's', account = ACCOUNT, partition = 'aws') =>
  `arn:${partition}:sts::${account}:assumed-role/${role}/${name}`;

const AGENTS = iam('role/agents');
const READERS = iam('role/teams/data/readers');
const ALICE = iam('user/people/alice');
const CHINA = iam('role/agents', ACCOUNT, 'aws-cn');

const authenticator = createAuthenticator(
  {
    mode: 'iam',
    principals: {
      [AGENTS]: { scopes: ['runs:start', 'runs:read'] },
      [READERS]: { scopes: ['runs:read'], tools: ['k8s/*'] },
      [ALICE]: { scopes: ['admin'] },
      [CHINA]: { scopes: ['workflows:read'] },
    },
  },
  { readSecret: () => Promise.reject(new Error('none')), fetch, now: () => 0 },
);
const request = (headers: Record<string, string> = {}) =>
  new Request('https://x.example/mcp', { method: 'POST', headers });
const ask = (iamArn?: string, headers = {}) =>
  authenticator.authenticate(request(headers), iamArn === undefined ? {} : { iamArn });

describe('a principal of the map', () => {
  it.each([
    ['a session of a role', session('agents'), AGENTS, ['runs:start', 'runs:read']],
    ['another session of it', session('agents', 'i-0abc@x.y=z,1'), AGENTS, ['runs:start', 'runs:read']],
    ['a session of a role with a path', session('readers'), READERS, ['runs:read']],
    ['a user', ALICE, ALICE, ['admin']],
    ['a role of another partition', session('agents', 's', ACCOUNT, 'aws-cn'), CHINA, ['workflows:read']],
  ])('%s', async (_, caller, arn, scopes) => {
    expect(await ask(caller)).toMatchObject({ principal: { kind: 'iam', id: `iam:${arn}`, scopes } });
  });

  it('has its allow-list of tools', async () => {
    expect(await ask(session('readers'))).toMatchObject({ principal: { tools: ['k8s/*'] } });
    expect(await ask(session('agents'))).not.toHaveProperty('principal.tools');
  });
});

describe('anybody else is answered with 403, without a challenge', () => {
  it.each([
    ['nobody', undefined],
    ['an empty ARN', ''],
    ['a role of another account', session('agents', 's', '210987654321')],
    ['a role of another partition', session('agents', 's', ACCOUNT, 'aws-us-gov')],
    ['a role whose name begins like it', session('agents2')],
    ['a role in other case', session('Agents')],
    ['a role by its path', session('teams/data/readers')],
    ['the role itself, which calls by sessions alone', AGENTS],
    ['a user without the path', iam('user/alice')],
    ['a user with another path', iam('user/other/alice')],
    ['the user as a role', session('alice')],
    ['a role named like the user', iam('user/agents')],
    ['the root user', iam('root')],
    ['a federated user', `arn:aws:sts::${ACCOUNT}:federated-user/agents`],
    ['a session with a line break', `${session('agents')}\n`],
    ['an inherited name', 'constructor'],
  ])('%s', async (_, caller) => {
    const answer = await ask(caller);
    if (!('response' in answer)) throw new Error('it was let in');
    expect(answer.response.status).toBe(403);
    expect(answer.response.headers.get('www-authenticate')).toBeNull();
    if (caller) expect(await answer.response.text()).not.toContain(caller);
  });

  it('a token beside no signature does not count', async () => {
    const answer = await ask(undefined, { authorization: `Bearer mwe_aaaaaaaaaaaa_${'x'.repeat(43)}` });
    expect(answer).toMatchObject({ reason: 'no-credentials' });
  });

  it('a header that claims to be the verified ARN does not count', async () => {
    expect(await ask(undefined, { 'x-amz-user-arn': ALICE })).toHaveProperty('response');
  });
});

describe('the configuration', () => {
  const withPrincipals = (...arns: string[]) => ({
    mode: 'iam',
    principals: Object.fromEntries(arns.map((arn) => [arn, { scopes: ['runs:read'] }])),
  });

  it.each([
    ['a wildcard', withPrincipals(iam('role/*'))],
    ['everybody', withPrincipals('*')],
    ['an account', withPrincipals(iam('root'))],
    ['a session', withPrincipals(session('agents'))],
    ['an unknown scope', { mode: 'iam', principals: { [AGENTS]: { scopes: ['all'] } } }],
    ['a misspelt field', { mode: 'iam', principals: { [AGENTS]: { scopes: [], tool: [] } } }],
    ['a bad allow-list', { mode: 'iam', principals: { [AGENTS]: { scopes: [], tools: ['*'] } } }],
    ['no mode', { principals: {} }],
    ['two modes', { mode: 'bearer', secretArn: 'x', issuer: 'https://x.example' }],
    ['an issuer over http', { mode: 'oauth', issuer: 'http://issuer.example', audience: 'a' }],
    ['an issuer with a query', { mode: 'oauth', issuer: 'https://issuer.example/?a', audience: 'a' }],
    ['an issuer with a user', { mode: 'oauth', issuer: 'https://u:p@issuer.example', audience: 'a' }],
    ['an empty audience', { mode: 'oauth', issuer: 'https://issuer.example', audience: '' }],
    [
      'keys over http',
      { mode: 'oauth', issuer: 'https://i.example', audience: 'a', jwksUri: 'http://i.example' },
    ],
  ])('%s is refused', (_, value) => {
    expect(() => parseAuthConfig(value)).toThrow(AuthConfigError);
    expect(() => parseAuthConfig(value)).toThrow(/^auth/);
  });

  it('two entries that are one role are refused when it is used', () => {
    const config = parseAuthConfig(withPrincipals(iam('role/a/agents'), iam('role/b/agents')));
    const deps = { readSecret: () => Promise.reject(new Error('none')), fetch, now: () => 0 };
    expect(() => createAuthenticator(config, deps)).toThrow(/role\/b\/agents.*role\/a\/agents/);
  });
});
