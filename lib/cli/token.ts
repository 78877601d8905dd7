/**
 * `mwe token`: the bearer tokens of a deployment. A token is shown once, when it is made; what is kept is its hash, in the
 * secret that the endpoint reads.
 */

import { listNames, nearestName } from '../blueprint/suggest.ts';
import { allowEntryFault } from '../blueprint/tool-allow-list.ts';
import { SCOPES, type Scope } from '../engine/principals.ts';
import { hasExpired, mintToken, PRINCIPAL_NAME, type StoredToken } from '../mcp/auth/tokens.ts';
import { readArguments } from './arguments.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { jsonLines, type Output } from './terminal.ts';
import type { TokenSecret } from './token-secret.ts';

const PRESETS: Readonly<Record<string, readonly Scope[]>> = {
  agent: SCOPES.filter((scope) => scope !== 'admin'),
  reader: ['workflows:read', 'runs:read', 'tools:read'],
};

const MAX_ACTIVE = 2;
const MAX_DAYS = 3650;
const DAY_MS = 86_400_000;

const HELP = `mwe token create --secret S --principal NAME --scopes SCOPES [--tools TOOLS] [--expires DAYS]
mwe token list   --secret S [--json]
mwe token revoke ID --secret S

The bearer tokens of a deployment. create prints the token on stdout, once: only its hash is kept.

  --secret S        name or ARN of the secret: the stack's output TokenSecret
  --principal NAME  whose token it is; owner of what is saved with it. Two may be active, so that one can follow
                    another without a gap
  --scopes SCOPES   separated by commas: ${SCOPES.slice(0, 5).join(', ')},
                    ${SCOPES.slice(5).join(', ')};
                    or agent (all but admin), or reader (${PRESETS.reader?.join(', ')})
  --tools TOOLS     downstream tools that it may use, "server/tool" or "server/*", separated by commas. Default: all
  --expires DAYS    1 to ${MAX_DAYS}. Default: it does not expire
  --json            the list as JSON on stdout
  --help

Region and credentials are those of the AWS SDK (AWS_PROFILE, AWS_REGION; an ARN says its region). A new token is
accepted within 10 seconds, a revoked one refused within a minute.`;

const OPTIONS = {
  secret: { type: 'string' },
  principal: { type: 'string' },
  scopes: { type: 'string' },
  tools: { type: 'string', multiple: true },
  expires: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

/** Options of each command; what another one takes is refused. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  create: ['secret', 'principal', 'scopes', 'tools', 'expires'],
  list: ['secret', 'json'],
  revoke: ['secret'],
};

export async function runToken(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) {
    output.out(HELP);
    return EXIT.ok;
  }
  const [command = '', id, ...rest] = positionals;
  const known = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (known === undefined) {
    const what = command === '' ? 'a command is missing' : `there is no command "${command}"`;
    throw usage(`token: ${what}; ${listNames(Object.keys(COMMANDS))}`);
  }
  const foreign = Object.keys(values).find((name) => !known.includes(name));
  if (foreign !== undefined) throw usage(`token ${command}: takes no --${foreign}`);
  const extra = command === 'revoke' ? rest[0] : id;
  if (extra !== undefined) throw usage(`token ${command}: "${extra}" is one argument too many`);
  if (command === 'revoke' && id === undefined) throw usage('token revoke: the ID is missing');

  // All arguments are looked at before AWS is asked anything.
  const made = command === 'create' ? newToken(values, Date.now()) : undefined;
  const name = needed(values.secret, 'secret');
  const { openTokenSecret } = await import('./token-secret.ts');
  const secret = openTokenSecret(name);
  try {
    if (made !== undefined) await create(secret, made, output);
    else if (command === 'list') await list(secret, values.json === true, output);
    else await revoke(secret, id ?? '', output);
    return EXIT.ok;
  } finally {
    secret.close();
  }
}

interface NewToken {
  text: string;
  entry: StoredToken;
}

function newToken(values: Values, nowMs: number): NewToken {
  const principal = needed(values.principal, 'principal');
  if (!PRINCIPAL_NAME.test(principal)) {
    throw usage(
      `--principal "${principal}": 1 to 64 letters, digits, dots, hyphens, underscores and @ are needed, a letter or digit first`,
    );
  }
  const scopes = readScopes(needed(values.scopes, 'scopes'));
  const tools = readTools(values.tools);
  const days = readDays(values.expires);
  const { text, id, hash } = mintToken();
  const entry: StoredToken = {
    id,
    hash,
    principal,
    scopes,
    ...(tools === undefined ? {} : { tools }),
    createdAt: new Date(nowMs).toISOString(),
    ...(days === undefined ? {} : { expiresAt: new Date(nowMs + days * DAY_MS).toISOString() }),
  };
  return { text, entry };
}

async function create(secret: TokenSecret, { text, entry }: NewToken, output: Output): Promise<void> {
  let expired: readonly StoredToken[] = [];
  await secret.change((tokens) => {
    // Its own earlier attempt, whose answer was lost.
    if (tokens.some(({ id }) => id === entry.id)) return tokens;
    const now = Date.parse(entry.createdAt);
    expired = tokens.filter((token) => hasExpired(token, now));
    const active = tokens.filter((token) => !expired.includes(token));
    const own = active.filter(({ principal }) => principal === entry.principal);
    if (own.length >= MAX_ACTIVE) {
      const ids = own.map(({ id, createdAt }) => `${id} (of ${createdAt.slice(0, 10)})`).join(' and ');
      throw new CliError(
        `"${entry.principal}" has ${own.length} active tokens, ${ids}; revoke one first: mwe token revoke ID`,
      );
    }
    return [...active, entry];
  });
  output.out(text);
  const { principal, scopes, tools, expiresAt } = entry;
  output.err(`token ${entry.id} of "${principal}"`);
  output.err(`  scopes   ${scopes.join(', ')}`);
  output.err(`  tools    ${tools === undefined ? 'all' : tools.join(', ')}`);
  output.err(`  expires  ${expiresAt ?? 'never'}`);
  if (expired.length > 0) {
    output.err(`expired tokens were taken out: ${expired.map(({ id }) => id).join(', ')}`);
  }
  output.err('It is shown this once. Agents send it as "Authorization: Bearer TOKEN", from 10 seconds on.');
}

async function list(secret: TokenSecret, json: boolean, output: Output): Promise<void> {
  const now = Date.now();
  const shown = (await secret.read()).map((token) => ({
    id: token.id,
    principal: token.principal,
    scopes: token.scopes,
    ...(token.tools === undefined ? {} : { tools: token.tools }),
    createdAt: token.createdAt,
    ...(token.expiresAt === undefined ? {} : { expiresAt: token.expiresAt }),
    expired: hasExpired(token, now),
  }));
  if (json) {
    output.out(jsonLines({ tokens: shown }));
    return;
  }
  if (shown.length === 0) output.err('no tokens');
  for (const { id, principal, scopes, tools, createdAt, expiresAt, expired } of shown) {
    const preset = Object.keys(PRESETS).find((name) => PRESETS[name]?.join() === scopes.join());
    const ends =
      expiresAt === undefined
        ? 'never expires'
        : `${expired ? 'EXPIRED' : 'expires'} ${expiresAt.slice(0, 10)}`;
    const allowed = tools === undefined ? 'all tools' : tools.join(',');
    output.out(
      `${id}  ${principal}  ${preset ?? scopes.join(',')}  ${allowed}  made ${createdAt.slice(0, 10)}  ${ends}`,
    );
  }
}

async function revoke(secret: TokenSecret, id: string, output: Output): Promise<void> {
  let revoked: StoredToken | undefined;
  await secret.change((tokens, again) => {
    const found = tokens.find((token) => token.id === id);
    if (found !== undefined) revoked = found;
    // On a second look it may be gone by somebody else's hand, or by our own whose answer was lost.
    else if (!again) throw unknownId(id, tokens);
    return tokens.filter((token) => token.id !== id);
  });
  output.err(`revoked token ${id} of "${revoked?.principal}"; the endpoint refuses it within a minute`);
}

/** A whole token in place of its id is a common slip; it must not be repeated in an error. */
function unknownId(id: string, tokens: readonly StoredToken[]): CliError {
  const ids = tokens.map((token) => token.id);
  const inToken = /^mwe_([a-z0-9]+)_/.exec(id)?.[1];
  if (inToken !== undefined) return usage(`that is a whole token; its id is ${inToken}`);
  const near = nearestName(id, ids);
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`;
  return usage(`there is no token "${id.slice(0, 40)}"; there are ${listNames(ids)}${hint}`);
}

function readScopes(text: string): Scope[] {
  const wanted = new Set<string>();
  const names = [...SCOPES, ...Object.keys(PRESETS)];
  for (const name of words(text)) {
    if (Object.hasOwn(PRESETS, name)) for (const scope of PRESETS[name] ?? []) wanted.add(scope);
    else if (names.includes(name)) wanted.add(name);
    else {
      const near = nearestName(name, names);
      const hint = near === undefined ? '' : `. Did you mean "${near}"?`;
      throw usage(`--scopes: there is no scope "${name}"; there are ${listNames(names, 20)}${hint}`);
    }
  }
  if (wanted.size === 0) throw usage('--scopes: at least one is needed');
  return SCOPES.filter((scope) => wanted.has(scope));
}

function readTools(texts: readonly string[] | undefined): string[] | undefined {
  if (texts === undefined) return undefined;
  const tools = [...new Set(texts.flatMap(words))];
  if (tools.length === 0) throw usage('--tools: at least one is needed; leave it away to allow all');
  for (const entry of tools) {
    const fault = allowEntryFault(entry);
    if (fault !== undefined) throw usage(`--tools: ${fault}`);
  }
  return tools;
}

function readDays(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > MAX_DAYS) {
    throw usage(`--expires ${text}: a whole number of days from 1 to ${MAX_DAYS} is needed`);
  }
  return days;
}

function words(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function needed(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw usage(`--${name} is missing (--help tells the arguments)`);
  return value;
}

function usage(message: string): CliError {
  return new CliError(message, EXIT.usage);
}
