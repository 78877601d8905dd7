// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of mcp.json are what this is about
/**
 * mcp.json as it is shipped: what one machine allows and AWS does not is refused with the fix, all of it at once; what is left is
 * rewritten so that it starts from the function's asset.
 *
 *     "command": "npx", "args": ["-y", "PACKAGE@1.2.3", "."]
 *       →  "command": "node", "args": ["${workspaceFolder}/servers/node_modules/PACKAGE/dist/index.js", "."],
 *          "env": { "HOME": "/tmp", … }
 *
 * Refused: programs that are no npm package, packages without an exact version, folders that are not shipped, variables that the
 * function does not have, and a server's secrets beside a program of somebody else, unless `trustTogether`: the programs run
 * with call-tool's role and in its memory, so each could read them.
 */
import { readEntries } from '../../lib/downstream/config.ts';
import { isNpx, type PackageServer, parsePackage } from '../../lib/downstream/npx.ts';
import { parseReference, referencesIn } from '../../lib/downstream/secret-values.ts';
import { placeholdersIn } from '../../lib/downstream/substitute.ts';

/** Folder of the installed packages in the asset. */
export const SERVERS_FOLDER = 'servers';

/** What a program may write to in a function. Source: Lambda developer guide, "Execution environment": /tmp alone. */
const WRITABLE = '/tmp';
const WRITABLE_ENV = {
  HOME: WRITABLE,
  npm_config_cache: `${WRITABLE}/.npm`,
  XDG_CACHE_HOME: `${WRITABLE}/.cache`,
  XDG_CONFIG_HOME: `${WRITABLE}/.config`,
  XDG_DATA_HOME: `${WRITABLE}/.local/share`,
  XDG_STATE_HOME: `${WRITABLE}/.local/state`,
} as const;

/** Variables that mcp.json may name on AWS, of those that a function has. Its credentials are not among them. */
const PROVIDED: readonly string[] = ['AWS_REGION', 'AWS_DEFAULT_REGION'];

type Entry = Record<string, unknown>;

/** A server of mcp.json that is not disabled. */
export interface AwsServer {
  name: string;
  entry: Entry;
  /** Of a stdio server. */
  package?: PackageServer;
  /** Names of the secrets that it is given. */
  secrets: string[];
}

/** Reads the servers and everything that AWS does not allow in them. @throws ConfigError where it is no mcp.json at all */
export function readAwsServers(
  text: string,
  file: string,
  trustTogether: boolean,
): { servers: AwsServer[]; problems: string[] } {
  const servers: AwsServer[] = [];
  const problems: string[] = [];
  for (const [name, entry] of readEntries(text, file)) {
    if (!isObject(entry) || entry.disabled === true) continue;
    const at = `server ${JSON.stringify(name)}`;
    const texts = textsOf(entry);
    problems.push(
      ...texts.flatMap(([place, value]) => unavailable(value).map((why) => `${at}: ${place}: ${why}`)),
    );
    const secrets = new Set<string>();
    for (const reference of texts.flatMap(([, value]) => referencesIn(value))) {
      const parsed = parseReference(reference);
      if (parsed !== undefined) secrets.add(parsed.name);
    }
    const server: AwsServer = { name, entry, secrets: [...secrets] };
    if (entry.command !== undefined) {
      const parsed = programOf(entry);
      if ('problem' in parsed) problems.push(`${at}: ${parsed.problem}`);
      else server.package = parsed;
      if (entry.cwd !== undefined && entry.cwd !== '${dataFolder}') {
        problems.push(
          `${at}: cwd: ${JSON.stringify(entry.cwd)} is not shipped; leave "cwd" out, or write "\${dataFolder}" for a folder that can be written`,
        );
      }
    }
    servers.push(server);
  }
  if (!trustTogether) problems.push(...apart(servers));
  problems.push(...oneVersion(servers));
  return { servers, problems };
}

function programOf({ command, args }: Entry): PackageServer | { problem: string } {
  if (typeof command !== 'string' || !isNpx(command)) {
    return {
      problem: `command: ${JSON.stringify(command)} cannot be shipped to AWS, where programs come from npm; write "command": "npx", "args": ["-y", "PACKAGE@1.2.3", …], or serve it elsewhere and give its "url"`,
    };
  }
  const given = Array.isArray(args) ? args.filter((each) => typeof each === 'string') : [];
  const parsed = parsePackage(given);
  return 'problem' in parsed ? { problem: `args: ${parsed.problem}` } : parsed;
}

/** Why placeholders of a text cannot be filled in the function. */
function unavailable(text: string): string[] {
  return placeholdersIn(text).flatMap((inner) => {
    if (inner === 'dataFolder' || /^(secret|input):/.test(inner)) return [];
    if (inner === 'workspaceFolder') {
      return [
        '${workspaceFolder} is a folder of this machine, of which nothing is shipped; write ${dataFolder} for one that can be written',
      ];
    }
    const [name = '', fallback] = inner.replace(/^env:/, '').split(':-');
    if (PROVIDED.includes(name)) return [];
    if (/^AWS_/.test(name)) {
      return [
        `\${${inner}} would hand over what is the function's own; give the server a secret, \${secret:NAME}`,
      ];
    }
    if (fallback !== undefined) return [];
    return [
      `\${${inner}}: the function has no variable ${name} (it has ${PROVIDED.join(' and ')}); write a secret, \${secret:NAME}, or the value itself where it is none`,
    ];
  });
}

/** Servers that have secrets, and the programs of others beside them. */
function apart(servers: readonly AwsServer[]): string[] {
  return servers.flatMap(({ name, secrets }) => {
    if (secrets.length === 0) return [];
    const others = servers.filter((other) => other.name !== name && other.package !== undefined);
    if (others.length === 0) return [];
    const named = others.map((other) => JSON.stringify(other.name)).join(', ');
    const programs =
      others.length === 1 ? `the program of server ${named}` : `the programs of servers ${named}`;
    return [
      `server ${JSON.stringify(name)}: its secrets (${secrets.join(', ')}) could be read by ${programs}, which ${others.length === 1 ? 'runs' : 'run'} with the same role and memory; serve one of them elsewhere and give its "url", or set the prop "trustTogether" if you trust them with each other's secrets`,
    ];
  });
}

function oneVersion(servers: readonly AwsServer[]): string[] {
  const seen = new Map<string, { version: string; server: string }>();
  const problems: string[] = [];
  for (const { name: server, package: wanted } of servers) {
    if (wanted === undefined) continue;
    const first = seen.get(wanted.name);
    if (first === undefined) seen.set(wanted.name, { version: wanted.version, server });
    else if (first.version !== wanted.version) {
      problems.push(
        `server ${JSON.stringify(server)}: ${wanted.name}@${wanted.version}, and server ${JSON.stringify(first.server)} has ${wanted.name}@${first.version}; write one version in both`,
      );
    }
  }
  return problems;
}

/**
 * The text of mcp.json in the asset.
 * @param programIn the program of an installed package, relative to its folder
 */
export function writeAwsServers(servers: readonly AwsServer[], programIn: (name: string) => string): string {
  const entries = servers.map(({ name, entry, package: wanted }) => {
    if (wanted === undefined) return [name, entry] as const;
    const program = `\${workspaceFolder}/${SERVERS_FOLDER}/node_modules/${wanted.name}/${programIn(wanted.name)}`;
    const env = { ...WRITABLE_ENV, ...(isObject(entry.env) ? entry.env : {}) };
    return [name, { ...entry, command: 'node', args: [program, ...wanted.args], env }] as const;
  });
  return `${JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2)}\n`;
}

/** The strings of an entry that may hold placeholders, with their places. */
function textsOf(entry: Entry): [place: string, text: string][] {
  const found: [string, string][] = [];
  const take = (place: string, value: unknown): void => {
    if (typeof value === 'string') found.push([place, value]);
  };
  for (const field of ['command', 'cwd', 'url']) take(field, entry[field]);
  if (Array.isArray(entry.args))
    for (const [index, value] of entry.args.entries()) take(`args/${index}`, value);
  for (const field of ['env', 'headers']) {
    const values = entry[field];
    if (isObject(values)) for (const [key, value] of Object.entries(values)) take(`${field}/${key}`, value);
  }
  return found;
}

function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
