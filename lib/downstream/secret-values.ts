/**
 * `${secret:NAME}` and `${secret:NAME#key}` of mcp.json: what they stand for is read when a server's connection is first
 * opened, and only then stands anywhere in memory. A value never stands in a message; the name does.
 *
 * A configuration keeps its placeholders, so that a server whose secret cannot be read fails alone, and so that the hash of
 * the configuration says nothing of any value.
 */
import type { HttpServerConfig, ServerConfig } from './config.ts';
import { credentialsIn, isHeader, isHttpUrl } from './http-fields.ts';

/** The string of a secret of Secrets Manager. Rejects with an Error whose message is a reason without the name. */
export type ReadSecret = (name: string) => Promise<string>;

/** Source: Secrets Manager API reference, CreateSecret, Name. */
const SECRET_NAME = /^[A-Za-z0-9/_+=.@-]{1,512}$/;
const PLACEHOLDER = /\$\{secret:([^{}]*)\}/g;

/** `NAME#key` in its parts; undefined: it is none. A name that is an ARN is none: the stack gives rights by name. */
export function parseReference(reference: string): { name: string; key?: string } | undefined {
  const hash = reference.indexOf('#');
  const name = hash === -1 ? reference : reference.slice(0, hash);
  if (!SECRET_NAME.test(name)) return undefined;
  if (hash === -1) return { name };
  const key = reference.slice(hash + 1);
  return key === '' ? undefined : { name, key };
}

/** The references in a text, as written after `secret:`. */
export function referencesIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? '');
}

/** The text with something in every placeholder's place, for checks of its form. */
export function withStandIns(text: string): string {
  return text.replace(PLACEHOLDER, 'x');
}

/** What was made of a configuration, and the values in it, which are to stand in no message. */
export interface FilledConfig {
  config: ServerConfig;
  values: string[];
}

/**
 * Reads what the placeholders stand for, all at once, and fills them in.
 * @throws Error that names the secret, and says why it cannot be used
 */
export async function fillSecrets(
  config: ServerConfig,
  readSecret: ReadSecret | undefined,
): Promise<FilledConfig> {
  const references = config.secretReferences ?? [];
  if (references.length === 0) return { config, values: [] };
  const found = new Map(
    await Promise.all(references.map(async (each) => [each, await readReference(each, readSecret)] as const)),
  );
  const fill = (text: string): string =>
    text.replace(PLACEHOLDER, (whole, reference: string) => found.get(reference) ?? whole);
  const fillAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
  const values = [...found.values()].flatMap((value) => [value, encodeURIComponent(value)]);
  if (config.transport === 'stdio') {
    return { config: { ...config, args: config.args.map(fill), env: fillAll(config.env) }, values };
  }
  const filled = { ...config, url: fill(config.url), headers: fillAll(config.headers) };
  checkForm(filled);
  return { config: filled, values: [...values, ...Object.values(filled.headers).flatMap(credentialsIn)] };
}

/** A secret can break what it is put into: a line break in a header, a space in a host. */
function checkForm({ url, headers }: HttpServerConfig): void {
  if (!isHttpUrl(url)) throw new Error('with its secrets filled in, its "url" is not an http or https URL');
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeader(name, value)) throw new Error(`with its secrets filled in, headers/${name} is not valid`);
  }
}

async function readReference(reference: string, readSecret: ReadSecret | undefined): Promise<string> {
  const { name, key } = parseReference(reference) ?? { name: reference };
  const fault = (reason: string, cause?: unknown) =>
    new Error(`the secret "${name}" ${reason}`, cause === undefined ? undefined : { cause });
  if (readSecret === undefined) throw fault('cannot be read: there is no Secrets Manager here');
  const text = await readSecret(name).catch((cause: unknown) => {
    throw fault(cause instanceof Error ? cause.message : 'cannot be read', cause);
  });
  if (key === undefined) return text;
  const value = memberOf(text, key);
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw fault(`has no text under the key "${key}"; it must be a JSON object with that key`);
}

function memberOf(text: string, key: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || !Object.hasOwn(parsed, key)) return undefined;
    return (parsed as Record<string, unknown>)[key];
  } catch {
    // The parser's own message would quote the secret.
    return undefined;
  }
}
