// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of mcp.json are what is tested
/** mcp.json for AWS: what is refused and with which fix, and what is written into the asset. */
import { describe, expect, it } from 'vitest';
import { readAwsServers, writeAwsServers } from '../../../infra/servers/aws-servers.ts';

const read = (servers: object, trustTogether = false) =>
  readAwsServers(JSON.stringify({ mcpServers: servers }), 'mcp.json', trustTogether);
const npx = (spec: string, fields: object = {}) => ({ command: 'npx', args: ['-y', spec], ...fields });

describe('what is refused', () => {
  const cases: [what: string, servers: object, problems: string[]][] = [
    [
      'a program that is no package',
      { a: { command: 'node', args: ['server.js'] }, b: { command: 'uvx', args: ['x'] } },
      [
        'server "a": command: "node" cannot be shipped to AWS, where programs come from npm; write "command": "npx", "args": ["-y", "PACKAGE@1.2.3", …], or serve it elsewhere and give its "url"',
        'server "b": command: "uvx" cannot be shipped to AWS, where programs come from npm; write "command": "npx", "args": ["-y", "PACKAGE@1.2.3", …], or serve it elsewhere and give its "url"',
      ],
    ],
    [
      'a package without its version',
      { a: npx('server') },
      ['server "a": args: "server" has no version; write "server@1.2.3" with the exact one'],
    ],
    [
      'a package from elsewhere',
      { a: npx('github:owner/server') },
      [
        'server "a": args: "github:owner/server" is a git repository; name a package of the npm registry by its exact version, "PACKAGE@1.2.3"',
      ],
    ],
    [
      'two versions of a package',
      { a: npx('server@1.0.0'), b: npx('server@1.0.1') },
      ['server "b": server@1.0.1, and server "a" has server@1.0.0; write one version in both'],
    ],
    [
      'a folder that is not shipped',
      { a: npx('server@1.0.0', { cwd: 'data', env: { DATA: '${workspaceFolder}/data' } }) },
      [
        'server "a": env/DATA: ${workspaceFolder} is a folder of this machine, of which nothing is shipped; write ${dataFolder} for one that can be written',
        'server "a": cwd: "data" is not shipped; leave "cwd" out, or write "${dataFolder}" for a folder that can be written',
      ],
    ],
    [
      'variables that the function does not have',
      { web: { url: 'https://${HOST}/mcp', headers: { authorization: 'Bearer ${env:TOKEN}' } } },
      [
        'server "web": url: ${HOST}: the function has no variable HOST (it has AWS_REGION and AWS_DEFAULT_REGION); write a secret, ${secret:NAME}, or the value itself where it is none',
        'server "web": headers/authorization: ${env:TOKEN}: the function has no variable TOKEN (it has AWS_REGION and AWS_DEFAULT_REGION); write a secret, ${secret:NAME}, or the value itself where it is none',
      ],
    ],
    [
      "the function's own credentials, also with a default",
      { a: npx('server@1.0.0', { env: { A: '${AWS_SECRET_ACCESS_KEY}', B: '${AWS_SESSION_TOKEN:-}' } }) },
      [
        'server "a": env/A: ${AWS_SECRET_ACCESS_KEY} would hand over what is the function\'s own; give the server a secret, ${secret:NAME}',
        'server "a": env/B: ${AWS_SESSION_TOKEN:-} would hand over what is the function\'s own; give the server a secret, ${secret:NAME}',
      ],
    ],
    [
      "a program's secrets beside another program",
      { a: npx('a@1.0.0', { env: { KEY: '${secret:key}' } }), b: npx('b@1.0.0') },
      [
        'server "a": its secrets (key) could be read by the program of server "b", which runs with the same role and memory; serve one of them elsewhere and give its "url", or set the prop "trustTogether" if you trust them with each other\'s secrets',
      ],
    ],
    [
      "an HTTP server's secrets beside programs",
      {
        web: {
          url: 'https://example.com/mcp',
          headers: { a: '${secret:team/x#k}', b: '${secret:team/x#l}' },
        },
        a: npx('a@1.0.0'),
        b: npx('b@1.0.0'),
      },
      [
        'server "web": its secrets (team/x) could be read by the programs of servers "a", "b", which run with the same role and memory; serve one of them elsewhere and give its "url", or set the prop "trustTogether" if you trust them with each other\'s secrets',
      ],
    ],
  ];
  it.each(cases)('%s', (_what, servers, problems) => {
    expect(read(servers).problems).toEqual(problems);
  });
});

describe('what is allowed', () => {
  const cases: [what: string, servers: object, trustTogether?: boolean][] = [
    ['a program with secrets of its own, alone', { a: npx('a@1.0.0', { env: { KEY: '${secret:key}' } }) }],
    [
      'HTTP servers with secrets, where there is no program',
      { a: { url: 'https://a/', headers: { x: '${secret:a}' } }, b: { url: 'https://b/' } },
    ],
    [
      'secrets beside a program that is trusted',
      { a: npx('a@1.0.0', { env: { KEY: '${secret:key}' } }), b: npx('b@1.0.0') },
      true,
    ],
    [
      'secrets beside a program that is disabled',
      {
        a: { url: 'https://a/', headers: { x: '${secret:a}' } },
        b: { ...npx('b@1.0.0'), disabled: true },
        c: { command: 'anything', disabled: true },
      },
    ],
    ['a variable with a default, and the region', { a: { url: 'https://a.${AWS_REGION}.${X:-x}/' } }],
    ['the folder that can be written', { a: npx('a@1.0.0', { cwd: '${dataFolder}' }) }],
    ['one package twice', { a: npx('a@1.0.0'), b: npx('a@1.0.0', { args: ['a@1.0.0', 'more'] }) }],
  ];
  it.each(cases)('%s', (_what, servers, trustTogether = false) => {
    expect(read(servers, trustTogether).problems).toEqual([]);
  });
});

it('what is written starts from the asset, with writable folders and its own variables', () => {
  const { servers } = read({
    files: npx('@scope/files@1.0.0', {
      args: ['--yes', '@scope/files@1.0.0', '.', '${secret:key}'],
      env: { HOME: '${dataFolder}/home', KEY: '${secret:key}' },
      timeoutMs: 5000,
      trustAnnotations: true,
    }),
    web: { url: 'https://example.com/mcp', headers: { a: 'b' } },
    off: { command: 'anything', disabled: true },
  });
  expect(JSON.parse(writeAwsServers(servers, () => 'dist/main.js'))).toEqual({
    mcpServers: {
      files: {
        command: 'node',
        args: ['${workspaceFolder}/servers/node_modules/@scope/files/dist/main.js', '.', '${secret:key}'],
        env: {
          HOME: '${dataFolder}/home',
          npm_config_cache: '/tmp/.npm',
          XDG_CACHE_HOME: '/tmp/.cache',
          XDG_CONFIG_HOME: '/tmp/.config',
          XDG_DATA_HOME: '/tmp/.local/share',
          XDG_STATE_HOME: '/tmp/.local/state',
          KEY: '${secret:key}',
        },
        timeoutMs: 5000,
        trustAnnotations: true,
      },
      web: { url: 'https://example.com/mcp', headers: { a: 'b' } },
    },
  });
});
