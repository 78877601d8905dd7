/** Props: what a user may write, what the defaults are, and what each fault is answered with. */
import { describe, expect, it } from 'vitest';
import { readProps } from '../../infra/read-props.ts';
import { SynthFault } from '../../infra/synth-fault.ts';

describe('defaults', () => {
  it.each([
    ['no context', undefined],
    ['an empty object', {}],
    ['a text', '{}'],
  ])('%s', (_name, context) => {
    expect(readProps(context)).toEqual({
      prefix: 'mwe',
      auth: { mode: 'bearer' },
      callTool: 'off',
      inspect: 'links',
      limits: {
        requestsPerMinute: 600,
        openRuns: 100,
        waitingRuns: 20,
        schedules: 10,
        minScheduleMinutes: 5,
        maxAttempts: 100_000,
        maxSubRuns: 1000,
        maxDepth: 10,
        maxRunSeconds: 86_400,
      },
      functions: {
        mcpEndpoint: { memoryMb: 1024, timeoutSeconds: 60 },
        callTool: { memoryMb: 1769, timeoutSeconds: 900 },
        runEvents: { memoryMb: 512, timeoutSeconds: 300 },
      },
      logRetentionDays: 30,
      deletionProtection: true,
      allowedOrigins: [],
      trustTogether: false,
      tracing: true,
    });
  });

  it('stay where a part is set', () => {
    const props = readProps({ functions: { callTool: { memoryMb: 3008 } }, limits: { openRuns: 5 } });
    expect(props.functions.callTool).toEqual({ memoryMb: 3008, timeoutSeconds: 900 });
    expect(props.functions.runEvents.memoryMb).toBe(512);
    expect(props.limits).toMatchObject({ openRuns: 5, schedules: 10 });
  });
});

const manyPrincipals = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `arn:aws:iam::123456789012:role/a-role-with-a-longer-name-${index}`,
      { scopes: ['workflows:read', 'runs:start', 'runs:read'], tools: ['k8s/*', 'graph/query'] },
    ]),
  );
const ROLE = 'arn:aws:iam::123456789012:role/agents';

describe('faults', () => {
  it.each<[string, unknown, string]>([
    ['a misspelt prop', { limts: {} }, 'limts: there is no such prop. Did you mean "limits"?'],
    [
      'a misspelt prop further in',
      { functions: { callTool: { memory: 512 } } },
      'functions.callTool.memory: there is no such prop. Did you mean "memoryMb"?',
    ],
    [
      'a prefix with a hyphen',
      { prefix: 'my-mwe' },
      'prefix: "my-mwe" is set; allowed is 1 to 16 lower-case letters and digits, a letter first, no hyphen',
    ],
    [
      'an unknown mode',
      { auth: { mode: 'basic' } },
      'auth.mode: "basic" is set; allowed is "bearer", "iam" or "oauth"',
    ],
    ['a mode left out', { auth: {} }, 'auth.mode: nothing is set; allowed is "bearer", "iam" or "oauth"'],
    [
      'a wildcard principal',
      { auth: { mode: 'iam', principals: { '*': { scopes: ['admin'] } } } },
      'auth.principals.*: this key is not allowed; allowed are ARNs of IAM roles or users without wildcards, e.g. "arn:aws:iam::123456789012:role/agents" (of an assumed role: the role)',
    ],
    [
      'no principal',
      { auth: { mode: 'iam', principals: {} } },
      "auth.principals: 0 principals are set; 1 to 20 have room in the function's resource policy, more can share a role",
    ],
    [
      'an unknown scope',
      { auth: { mode: 'iam', principals: { [ROLE]: { scopes: ['runs:write'] } } } },
      `auth.principals.${ROLE}.scopes.0: "runs:write" is set; allowed is scopes: workflows:read, workflows:write, workflows:delete, runs:start, runs:read, runs:cancel, tools:read, tools:call, schedules:write, admin`,
    ],
    [
      'a tool list that is none',
      { auth: { mode: 'iam', principals: { [ROLE]: { scopes: ['admin'], tools: ['list pods'] } } } },
      `auth.principals.${ROLE}.tools.0: "list pods": an entry is "server/tool" or "server/*"`,
    ],
    [
      'more principals than fit into an environment',
      { auth: { mode: 'iam', principals: manyPrincipals(20) } },
      'auth: auth and allowedOrigins are 2999 bytes of JSON, and the endpoint\'s environment has room for 2400; let principals share a role, or shorten lists of tools ("server/*")',
    ],
    [
      'an issuer without TLS',
      { auth: { mode: 'oauth', issuer: 'http://issuer.example.com', audience: 'mwe' } },
      'auth.issuer: "http://issuer.example.com" is set; allowed is an https URL, e.g. "https://issuer.example.com"',
    ],
    [
      'too short a time for call-tool',
      { functions: { callTool: { timeoutSeconds: 60 } } },
      'functions.callTool.timeoutSeconds: 60 is set; allowed is a whole number from 120 to 900',
    ],
    [
      'a retention that CloudWatch does not have',
      { logRetentionDays: 31 },
      'logRetentionDays: 31 is set; allowed is a period of CloudWatch Logs: 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653',
    ],
    [
      'a subnet that is none',
      { vpc: { subnetIds: ['vpc-1'], securityGroupIds: ['sg-0a1b2c3d'] } },
      'vpc.subnetIds.0: "vpc-1" is set; allowed is ids of subnets, e.g. "subnet-0a1b2c3d"',
    ],
    [
      'an origin with a path',
      { allowedOrigins: ['https://a.example.com/'] },
      'allowedOrigins.0: "https://a.example.com/" is set; allowed is origins without path, e.g. "https://inspector.example.com"',
    ],
    ['a text for a truth', { tracing: 'no' }, 'tracing: "no" is set; allowed is true or false'],
  ])('%s', (_name, context, fault) => {
    expect(() => readProps(context)).toThrow(new SynthFault('cdk.json, context "mwe":', [fault]));
  });

  it('are told all at once', () => {
    const context = { prefix: 'X', tracing: 1, callTol: 'all' };
    expect(() => readProps(context)).toThrow(/prefix: .*tracing: .*callTol: /s);
  });

  it('of a text that is no JSON say how it is written', () => {
    expect(() => readProps('prefix=test')).toThrow(
      new SynthFault('-c mwe=…:', [`"prefix=test" is no JSON; write -c mwe='{"prefix":"test"}'`]),
    );
  });
});
