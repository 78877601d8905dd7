/** docs/blueprints.md: every example is valid, every expression has the value that is said, every field is there. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DIAGNOSTIC_CODES } from '../../lib/blueprint/diagnostic-codes.ts';
import { ERROR_KINDS } from '../../lib/blueprint/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/blueprint/json.ts';
import { blueprintJsonSchema } from '../../lib/blueprint/json-schema.ts';
import { PARAM_TYPES, PARSE_MODES } from '../../lib/blueprint/types.ts';
import { validateBlueprint } from '../../lib/compile/validate.ts';
import { evaluateExpression, parseExpression } from '../../lib/expression/expression.ts';
import { functionNames } from '../../lib/expression/functions.ts';

const page = readFileSync(new URL('../../docs/blueprints.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(
  ([, text]) => JSON.parse(text ?? '') as JsonObject,
);
const setting = examples.find(({ id }) => id === 'setting') ?? {};
const scope = examples.find(({ steps }) => isJsonObject(steps ?? null)) ?? {};

/** The example as a whole blueprint: itself, as a step after the setting's, or added to it. */
function whole(example: JsonObject): JsonObject {
  if (Array.isArray(example.steps) && example.type === undefined) return example;
  if (example.type === undefined) return { ...setting, ...example, params: merged(example) };
  const { output: _, ...rest } = setting;
  return { ...rest, steps: [...(setting.steps as Json[]), example] };
}

function merged({ params }: JsonObject): Json {
  return { ...(setting.params as JsonObject), ...(params as JsonObject | undefined) };
}

describe('examples', () => {
  test.each(
    examples
      .filter((each) => each !== scope)
      .map((each) => [String(each.id ?? Object.keys(each).join(', ')), each] as const),
  )('%s', (_, example) => {
    const { diagnostics } = validateBlueprint(whole(example), { stackOwned: true });
    expect(diagnostics).toEqual([]);
  });
});

describe('expressions', () => {
  const rows = [...page.matchAll(/^\| (.+?) \| (`.+?`) \| .*\|$/gm)].flatMap(([, source, value]) => {
    const text = code(source ?? '');
    const json = code(value ?? '');
    return text === undefined || json === undefined || !isJson(json)
      ? []
      : [[text, JSON.parse(json) as Json] as const];
  });

  test('are found', () => {
    expect(rows.length).toBeGreaterThan(15);
  });

  test.each(rows)('%s', (source, value) => {
    expect(evaluateExpression(parseExpression(source), scope)).toEqual(value);
  });

  test.each(functionNames())('the function %s is listed', (name) => {
    expect(page).toContain(`\`${name}\``);
  });
});

describe('nothing is left out', () => {
  const { properties, $defs } = blueprintJsonSchema();
  const fields = (schema: Json | undefined) =>
    Object.keys((isJsonObject(schema ?? null) ? schema : {}) as JsonObject);
  const definitions = $defs as Record<string, JsonObject>;
  const all = new Set([
    ...fields(properties),
    ...Object.values(definitions).flatMap((definition) => fields(definition.properties)),
  ]);
  const written = JSON.stringify(examples);

  test.each([...all])('the field %s is in a table and in an example', (field) => {
    expect(page).toContain(`\`${field}\``);
    expect(written).toContain(`"${field}":`);
  });

  test.each([...PARSE_MODES, ...PARAM_TYPES])('the word %s is there', (word) => {
    expect(page).toContain(`\`${word}\``);
  });

  test('every code and kind it names exists', () => {
    for (const [code] of page.matchAll(/BP\d+/g)) expect(DIAGNOSTIC_CODES).toHaveProperty(code);
    for (const kind of ['OutcomeUnknown', 'FailedCondition']) expect(ERROR_KINDS).toContain(kind);
  });

  test('every row of a table has the cells of its head', () => {
    for (const [table] of page.matchAll(/(?:^\|.*\n)+/gm)) {
      const cells = table
        .trimEnd()
        .split('\n')
        .map((row) => row.replaceAll('\\|', '').split('|').length);
      expect([table, new Set(cells).size]).toEqual([table, 1]);
    }
  });

  test('every link within the page leads somewhere', () => {
    const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      (title ?? '').toLowerCase().replaceAll(' ', '-'),
    );
    for (const [, anchor] of page.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor);
  });
});

/** The text of a cell that is one code span; a `|` is written `\|` in a table. */
function code(cell: string): string | undefined {
  const span = /^(`+)(.+)\1$/.exec(cell.trim())?.[2];
  return span?.replaceAll('\\|', '|').trim();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
