/**
 * `mcp.json`: which downstream servers there are and how they are reached. The shape is the ecosystem's own
 * (`mcpServers` of Claude Desktop and Cursor, `servers` of VS Code) with a few fields of ours beside it.
 *
 * What always holds of a parsed server: its name is a SERVER_NAME, its placeholders are filled, its `cwd` is absolute,
 * every limit is set. Relative paths: `cwd` is relative to the folder of the file, and is that folder where it is
 * absent; `args` are handed over as written, so a relative path among them is relative to `cwd`.
 *
 * Refused, all problems at once: an unknown shape, a wrong type, a misspelt field of ours, a missing variable. Fields that
 * only other programs know are passed over. A value of the file never stands in a message where it may be a secret.
 */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { DEFAULT_CALL_TIMEOUT_MS, SERVER_NAME } from '../blueprint/limits.ts';
import { credentialsIn, isHeader, isHttpUrl } from './http-fields.ts';
import { jsonPlace } from './json-place.ts';
import { fromInstalled } from './npx.ts';
import { withStandIns } from './secret-values.ts';
import { type Substitutions, substitute } from './substitute.ts';

export type SessionMode = 'pool' | 'call' | 'run';

interface ServerBase {
  name: string;
  /** Tools that may be called and are listed; absent: all. */
  tools?: readonly string[];
  /** Time limit of one call, where its step has none of its own. Default 60,000. */
  timeoutMs: number;
  /** Calls in flight at once. Default 1 for stdio, 64 else. */
  maxConcurrency: number;
  /** One connection for all ("pool", default), for each run, or for each call. */
  session: SessionMode;
  /** Believe `readOnlyHint` and `idempotentHint`: such calls may be repeated. Default false. */
  trustAnnotations: boolean;
  /** Values that stand in no message: those of the environment that are used above, and those of headers. */
  secrets: readonly string[];
  /** Secrets whose placeholders stand in `args`, `env`, `url` or `headers` still, each once; absent: none. */
  secretReferences?: readonly string[];
}

export interface StdioServerConfig extends ServerBase {
  transport: 'stdio';
  command: string;
  args: readonly string[];
  /** Beside the SDK's default variables, the only ones that the child gets. */
  env: Readonly<Record<string, string>>;
  cwd: string;
}

export interface HttpServerConfig extends ServerBase {
  transport: 'http' | 'sse';
  url: string;
  headers: Readonly<Record<string, string>>;
}

export type ServerConfig = StdioServerConfig | HttpServerConfig;

export interface ConfigOptions {
  /** Path of the file, for messages and as the base of relative paths. */
  file: string;
  /** Default `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The engine's data folder, for `${dataFolder}`. Default `.engine` beside the file. */
  dataFolder?: string;
}

/** The configuration cannot be used. The message is one line and names place, value and fix of every problem. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(file: string, problems: readonly string[], options?: ErrorOptions) {
    super(`${file}: ${problems.join('; ')}`, options);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const DEFAULT_HTTP_CONCURRENCY = 64;
/** setTimeout holds no more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const common = {
  disabled: z.boolean().optional(),
  tools: z.array(z.string().min(1)).optional(),
  timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
  maxConcurrency: z.int().min(1).max(400).optional(),
  session: z.enum(['pool', 'call', 'run']).optional(),
  trustAnnotations: z.boolean().optional(),
};

const stdioSchema = z.object({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().min(1).optional(),
  ...common,
});

const httpSchema = z.object({
  type: z.enum(['http', 'streamable-http', 'streamableHttp', 'sse']).optional(),
  url: z.string().min(1),
  headers: z.record(z.string(), z.string()).optional(),
  ...common,
});

const OWN_FIELDS = [
  ...new Set([...Object.keys(stdioSchema.shape), ...Object.keys(httpSchema.shape)]),
] as readonly string[];

/**
 * Reads and parses the file. A package that is installed beside it is started from there and not by npx. Throws ConfigError,
 * also where the file cannot be read.
 */
export function loadServers(options: ConfigOptions): ServerConfig[] {
  let text: string;
  try {
    text = readFileSync(options.file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const reason =
      code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code ?? 'unknown error'})`;
    throw new ConfigError(options.file, [reason], { cause });
  }
  const folder = dirname(resolve(options.file));
  return parseServers(text, options).map((server) => fromInstalled(server, folder));
}

/** Parses the text of an mcp.json. Servers with `"disabled": true` are left out. Throws ConfigError. */
export function parseServers(text: string, options: ConfigOptions): ServerConfig[] {
  const entries = readEntries(text, options.file);
  const folder = dirname(resolve(options.file));
  const values: Substitutions = {
    env: options.env ?? process.env,
    workspaceFolder: folder,
    dataFolder: resolve(options.dataFolder ?? resolve(folder, '.engine')),
  };
  const problems: string[] = [];
  const servers: ServerConfig[] = [];
  for (const [name, entry] of entries) {
    const server = parseServer(name, entry, values, folder, problems);
    if (server !== undefined) servers.push(server);
  }
  if (problems.length > 0) throw new ConfigError(options.file, problems);
  return servers;
}

/** The entries as they are written, whatever they hold. Throws ConfigError. */
export function readEntries(text: string, file: string): [string, unknown][] {
  let document: unknown;
  try {
    document = JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (cause) {
    throw new ConfigError(file, [`it is not JSON${jsonPlace(text)}`], { cause });
  }
  if (!isRecord(document)) throw new ConfigError(file, ['it must be an object with the key "mcpServers"']);
  const present = ['mcpServers', 'servers'].filter((key) => document[key] !== undefined);
  if (present.length === 0) {
    throw new ConfigError(file, ['the key "mcpServers" (or VS Code\'s "servers") is missing']);
  }
  if (present.length === 2) {
    throw new ConfigError(file, [
      'it has both "mcpServers" and "servers"; put all servers under "mcpServers"',
    ]);
  }
  const key = present[0] as string;
  const servers = document[key];
  if (!isRecord(servers)) throw new ConfigError(file, [`${key} must be an object of servers by name`]);
  return Object.entries(servers);
}

function parseServer(
  name: string,
  entry: unknown,
  values: Substitutions,
  folder: string,
  problems: string[],
): ServerConfig | undefined {
  const at = `server ${JSON.stringify(name)}`;
  if (!SERVER_NAME.test(name)) {
    problems.push(
      `${at}: a name has 1 to 32 lower-case letters, digits and hyphens and starts with a letter`,
    );
    return undefined;
  }
  if (!isRecord(entry)) {
    problems.push(`${at}: must be an object with "command" or "url"`);
    return undefined;
  }
  if (entry.disabled === true) return undefined;
  const misspelt = misspeltFields(entry);
  if (misspelt.length > 0) {
    problems.push(...misspelt.map((sentence) => `${at}: ${sentence}`));
    return undefined;
  }
  if ((entry.command === undefined) === (entry.url === undefined)) {
    problems.push(`${at}: give either "command" (a program to start) or "url" (an HTTP endpoint)`);
    return undefined;
  }
  const secrets: string[] = [];
  const references = new Set<string>();
  const fill = filler(at, values, problems, secrets, references);
  if (entry.command !== undefined) {
    const parsed = stdioSchema.safeParse(entry);
    if (!parsed.success) return refuse(at, parsed.error, problems);
    const stdio = parsed.data;
    const cwd = stdio.cwd === undefined ? folder : fill('cwd', stdio.cwd);
    const command = fill('command', stdio.command);
    if (references.size > 0) {
      problems.push(`${at}: a secret cannot stand in "command" or "cwd"; hand it over in "env"`);
    }
    return {
      ...base(name, stdio, 1),
      transport: 'stdio',
      command,
      args: (stdio.args ?? []).map((argument, index) => fill(`args/${index}`, argument)),
      env: fillAll('env', stdio.env ?? {}, fill),
      cwd: isAbsolute(cwd) ? cwd : resolve(folder, cwd),
      secrets,
      ...referenced(references),
    };
  }
  const parsed = httpSchema.safeParse(entry);
  if (!parsed.success) return refuse(at, parsed.error, problems);
  const http = parsed.data;
  const url = fill('url', http.url);
  if (!isHttpUrl(withStandIns(url)))
    problems.push(`${at}: "url" must be an absolute http or https URL without credentials in it`);
  const headers = fillAll('headers', http.headers ?? {}, fill);
  for (const [header, value] of Object.entries(headers)) {
    if (!isHeader(header, withStandIns(value)))
      problems.push(`${at}: headers/${header} is not a valid HTTP header`);
  }
  return {
    ...base(name, http, DEFAULT_HTTP_CONCURRENCY),
    transport: http.type === 'sse' ? 'sse' : 'http',
    url,
    headers,
    secrets: [...secrets, ...Object.values(headers).flatMap(credentialsIn)],
    ...referenced(references),
  };
}

function referenced(references: ReadonlySet<string>): { secretReferences?: readonly string[] } {
  return references.size === 0 ? {} : { secretReferences: [...references] };
}

function base(
  name: string,
  entry: z.infer<typeof stdioSchema> | z.infer<typeof httpSchema>,
  maxConcurrency: number,
): Omit<ServerBase, 'secrets'> {
  return {
    name,
    ...(entry.tools === undefined ? {} : { tools: entry.tools }),
    timeoutMs: entry.timeoutMs ?? DEFAULT_CALL_TIMEOUT_MS,
    maxConcurrency: entry.maxConcurrency ?? maxConcurrency,
    session: entry.session ?? 'pool',
    trustAnnotations: entry.trustAnnotations ?? false,
  };
}

function refuse(at: string, error: z.ZodError, problems: string[]): undefined {
  for (const issue of error.issues) {
    problems.push(`${at}: ${issue.path.join('/')}: ${issue.message}`);
  }
  return undefined;
}

/**
 * A field that is ours but for letter case, hyphens or a plural is a slip; any other belongs to another program. VS Code's
 * `envFile` is the one that cannot be passed over: the server would start without what it needs.
 */
function misspeltFields(entry: Record<string, unknown>): string[] {
  const sentences: string[] = [];
  for (const field of Object.keys(entry)) {
    if (OWN_FIELDS.includes(field)) continue;
    const near = OWN_FIELDS.find((own) => normalField(own) === normalField(field));
    if (near !== undefined) sentences.push(`unknown field "${field}". Did you mean "${near}"?`);
    if (field === 'envFile')
      sentences.push(`"envFile" is not supported; name the variables in "env", as "\${NAME}"`);
  }
  return sentences;
}

function normalField(field: string): string {
  return field.toLowerCase().replace(/[-_]/g, '').replace(/s$/, '');
}

type Fill = (place: string, text: string) => string;

function filler(
  at: string,
  values: Substitutions,
  problems: string[],
  secrets: string[],
  references: Set<string>,
): Fill {
  return (place, text) => {
    const filled = substitute(text, values);
    secrets.push(...filled.values);
    for (const reference of filled.secrets) references.add(reference);
    problems.push(...filled.problems.map((problem) => `${at}: ${place}: ${problem}`));
    return filled.text;
  };
}

function fillAll(place: string, texts: Record<string, string>, fill: Fill): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(`${place}/${key}`, text)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
