/** `--param k=v` against the blueprint's declarations: the declared type decides how the text is read. */
import { isJsonObject, type Json, type JsonObject } from '../blueprint/json.ts';
import { CliError, EXIT } from './exit-codes.ts';

/** @throws CliError (usage) for a pair without `=` or a value that is no JSON where the type needs it. */
export function readParams(pairs: readonly string[], blueprint: Json): JsonObject {
  const entries = pairs.map((pair): [string, Json] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new CliError(`--param ${pair}: write it as name=value`, EXIT.usage);
    const name = pair.slice(0, at);
    return [name, readValue(name, pair.slice(at + 1), declaredType(blueprint, name))];
  });
  return Object.fromEntries(entries);
}

function declaredType(blueprint: Json, name: string): string | undefined {
  const params = isJsonObject(blueprint) ? blueprint.params : undefined;
  const declaration = isJsonObject(params) && Object.hasOwn(params, name) ? params[name] : undefined;
  return isJsonObject(declaration) && typeof declaration.type === 'string' ? declaration.type : undefined;
}

function readValue(name: string, text: string, type: string | undefined): Json {
  if (type === 'string') return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    if (type === undefined) return text;
    throw new CliError(`--param ${name}: its type is ${type}, so the value must be JSON`, EXIT.usage);
  }
}
