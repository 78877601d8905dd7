/**
 * `${…}` in the strings of mcp.json.
 *
 *     ${NAME}  ${env:NAME}     a variable of the engine's environment; missing is an error
 *     ${NAME:-text}            the same, with a text for when it is missing or empty
 *     ${workspaceFolder}       the folder that mcp.json stands in
 *     ${dataFolder}            the engine's data folder
 *
 * Refused: `${secret:NAME}` (not built yet), `${input:ID}` (nobody is there to be asked), anything else with a colon. A
 * problem names the variable and never a value.
 */

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
}

const PLACEHOLDER = /\$\{([^{}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Fills the placeholders of one string. Never throws; what could not be filled stays as written and is a problem. */
export function substitute(text: string, values: Substitutions): Substituted {
  if (!text.includes('${')) return { text, problems: [], values: [] };
  const problems: string[] = [];
  const used: string[] = [];
  const filled = text.replace(PLACEHOLDER, (whole, inner: string) => {
    const found = lookUp(inner, values);
    if ('problem' in found) {
      problems.push(found.problem);
      return whole;
    }
    if (found.fromEnvironment) used.push(found.text);
    return found.text;
  });
  return { text: filled, problems, values: used };
}

type Found = { text: string; fromEnvironment: boolean } | { problem: string };

function lookUp(inner: string, values: Substitutions): Found {
  if (inner === 'workspaceFolder') return { text: values.workspaceFolder, fromEnvironment: false };
  if (inner === 'dataFolder') return { text: values.dataFolder, fromEnvironment: false };
  if (inner.startsWith('secret:')) {
    return {
      problem: `\${${inner}}: secrets are not supported yet; put the value into an environment variable and write \${NAME}`,
    };
  }
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
