/**
 * `${…}` in the strings of mcp.json.
 *
 *     ${NAME}  ${env:NAME}     a variable of the engine's environment; missing is an error
 *     ${NAME:-text}            the same, with a text for when it is missing or empty
 *     ${workspaceFolder}       the folder that mcp.json stands in
 *     ${dataFolder}            the engine's data folder
 *     ${secret:NAME}           the string of a secret of Secrets Manager
 *     ${secret:NAME#key}       the same where it is a JSON object: the text under a key
 *
 * A secret's placeholder stays as written: it is filled when a connection is opened (secret-values.ts). Refused:
 * `${input:ID}` (nobody is there to be asked), anything else with a colon. A problem names the variable and never a value.
 */
import { parseReference } from './secret-values.ts';

/** What the placeholders stand for. */
export interface Substitutions {
  env: Readonly<Record<string, string | undefined>>;
  workspaceFolder: string;
  dataFolder: string;
}

export interface Substituted {
  text: string;
  problems: string[];
  /** Values of the environment that stand in the text now. */
  values: string[];
  /** Secrets whose placeholders stand in the text still, as written after `secret:`. */
  secrets: string[];
}

const PLACEHOLDER = /\$\{([^{}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What stands in the placeholders of a text. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? '');
}

/** Fills the placeholders of one string. Never throws; what could not be filled stays as written and is a problem. */
export function substitute(text: string, values: Substitutions): Substituted {
  if (!text.includes('${')) return { text, problems: [], values: [], secrets: [] };
  const problems: string[] = [];
  const used: string[] = [];
  const secrets: string[] = [];
  const filled = text.replace(PLACEHOLDER, (whole, inner: string) => {
    if (inner.startsWith('secret:')) {
      const reference = inner.slice('secret:'.length);
      if (parseReference(reference) === undefined) problems.push(badReference(inner));
      else secrets.push(reference);
      return whole;
    }
    const found = lookUp(inner, values);
    if ('problem' in found) {
      problems.push(found.problem);
      return whole;
    }
    if (found.fromEnvironment) used.push(found.text);
    return found.text;
  });
  return { text: filled, problems, values: used, secrets };
}

type Found = { text: string; fromEnvironment: boolean } | { problem: string };

function lookUp(inner: string, values: Substitutions): Found {
  if (inner === 'workspaceFolder') return { text: values.workspaceFolder, fromEnvironment: false };
  if (inner === 'dataFolder') return { text: values.dataFolder, fromEnvironment: false };
  if (inner.startsWith('input:')) {
    return {
      problem: `\${${inner}}: there is nobody to ask; use an environment variable and write \${NAME}`,
    };
  }
  const reference = inner.startsWith('env:') ? inner.slice('env:'.length) : inner;
  const fallbackAt = reference.indexOf(':-');
  const name = fallbackAt === -1 ? reference : reference.slice(0, fallbackAt);
  if (!NAME.test(name)) {
    return {
      problem: `\${${inner}} is not understood; write \${NAME}, \${NAME:-default} or \${workspaceFolder}`,
    };
  }
  const value = Object.hasOwn(values.env, name) ? values.env[name] : undefined;
  if (fallbackAt !== -1 && (value === undefined || value === ''))
    return { text: reference.slice(fallbackAt + 2), fromEnvironment: false };
  if (value === undefined) return { problem: `the environment variable ${name} is not set` };
  return { text: value, fromEnvironment: true };
}

function badReference(inner: string): string {
  const arn = inner.startsWith('secret:arn:') ? ' (its name, not its ARN)' : '';
  return `\${${inner}} names no secret; write \${secret:NAME}${arn}, or \${secret:NAME#key} for a key of its JSON`;
}
