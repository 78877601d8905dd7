/**
 * The JSON Schema of the language (draft 2020-12), made from the zod schema, so that an editor completes and checks a
 * blueprint while it is written. `schema/blueprint.schema.json` is its committed text; a test fails when they differ.
 */
import * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { MAX_CALL_TIMEOUT_SECONDS } from './limits.ts';
import { blueprintSchema } from './schema.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** "Exactly one of": what zod's objects do not say. */
const ALTERNATIVES: Record<string, Json[]> = {
  callStep: [
    { required: ['tool'], properties: { timeoutSeconds: { maximum: MAX_CALL_TIMEOUT_SECONDS } } },
    { required: ['workflow'], properties: { parse: false, retryUnknown: false } },
  ],
  loopStep: [
    { required: ['over'], properties: { max: false } },
    { required: ['while', 'max'], properties: { as: false, maxItems: false } },
  ],
};

/** The JSON Schema as an object. Fresh on every call. */
export function blueprintJsonSchema(): JsonObject {
  const generated = z.toJSONSchema(blueprintSchema, { target: 'draft-2020-12', io: 'input' });
  const { $schema: _dialect, $defs, ...root } = JSON.parse(JSON.stringify(generated)) as JsonObject;
  const definitions = isJsonObject($defs) ? $defs : {};
  for (const [name, oneOf] of Object.entries(ALTERNATIVES)) {
    const definition = definitions[name];
    if (!isJsonObject(definition)) throw new Error(`the generated JSON Schema has no definition "${name}"`);
    definition.oneOf = oneOf;
  }
  return {
    $schema: DIALECT,
    title: 'MCP workflow blueprint',
    description: 'A workflow of MCP tool calls that runs with no model in the loop.',
    ...root,
    $defs: definitions,
  };
}

/** The committed text: two spaces, a newline at the end. */
export function renderJsonSchema(): string {
  return `${JSON.stringify(blueprintJsonSchema(), null, 2)}\n`;
}
