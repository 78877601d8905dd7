/** Committed files that are made from code; `npm run generate` writes them. */
import { readFileSync } from 'node:fs';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
import { describe, expect, test } from 'vitest';
import { DIAGNOSTIC_CODES } from '../../lib/blueprint/diagnostic-codes.ts';
import { ERROR_KINDS } from '../../lib/blueprint/errors.ts';
import { renderErrorsDoc } from '../../lib/blueprint/errors-doc.ts';
import { isJsonObject, type Json } from '../../lib/blueprint/json.ts';
import { blueprintJsonSchema, renderJsonSchema } from '../../lib/blueprint/json-schema.ts';
import type { Blueprint } from '../../lib/blueprint/types.ts';
import { invalidCases } from '../compile/invalid-corpus.ts';

const committed = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('docs/errors.md', () => {
  test('is what the tables say', () => {
    expect(committed('docs/errors.md')).toBe(renderErrorsDoc());
  });

  test.each([...Object.keys(DIAGNOSTIC_CODES), ...ERROR_KINDS])('describes %s', (name) => {
    expect(renderErrorsDoc()).toMatch(new RegExp(`^(#### ${name} |\\| \`${name}\` )`, 'm'));
  });
});

describe('schema/blueprint.schema.json', () => {
  const schema = blueprintJsonSchema();
  const fits = new CfWorkerJsonSchemaValidator().getValidator(schema as never);

  test('is what the zod schema says', () => {
    expect(committed('schema/blueprint.schema.json')).toBe(renderJsonSchema());
  });

  test('describes every field, so that an editor can show it', () => {
    expect(undescribed(schema, '')).toEqual([]);
  });

  const every: Blueprint = {
    $schema: 'https://example.com/blueprint.schema.json',
    id: 'every-field',
    description: 'd',
    version: '1',
    params: { p: { type: 'array', description: 'd', default: [] } },
    errorStrategy: {
      onStepFailure: 'retry',
      maxRetries: 10,
      retryDelayMs: 0,
      backoffRate: 1,
      maxDelayMs: 0,
      jitter: false,
      collectErrors: false,
    },
    timeoutSeconds: 86_400,
    steps: [
      {
        id: 'c',
        type: 'call',
        tool: 'k8s/list',
        params: { a: null },
        parse: 'yaml',
        select: 1,
        retryUnknown: true,
        when: true,
        failWhen: '{{ output }}',
        timeoutSeconds: 870,
        description: 'd',
      },
      {
        id: 'w',
        type: 'call',
        workflow: 'other@latest',
        params: {},
        select: { a: [] },
        timeoutSeconds: 3600,
      },
      {
        id: 'l',
        type: 'loop',
        over: [1],
        as: 'i',
        do: { id: 'l1', type: 'call', tool: 't' },
        concurrency: 400,
        maxItems: 1,
        mode: 'map',
      },
      {
        id: 'v',
        type: 'loop',
        while: '{{ output.next }}',
        max: 3,
        do: [{ id: 'v1', type: 'call', tool: 't' }],
      },
      {
        id: 'p',
        type: 'parallel',
        branches: [{ id: 'p1', type: 'call', tool: 't' }, [{ id: 'p2', type: 'call', tool: 't' }]],
      },
      { id: 'q', type: 'pipe', steps: [{ id: 'q1', type: 'call', tool: 't' }] },
      { id: 'o', type: 'collect', steps: [{ id: 'o1', type: 'call', tool: 't' }], select: '{{ output }}' },
    ],
    output: {},
  };

  test('accepts a blueprint of every field', () => {
    expect(fits(every)).toMatchObject({ valid: true });
  });

  const shapes = [
    'BP110',
    'BP111',
    'BP112',
    'BP113',
    'BP114',
    'BP115',
    'BP116',
    'BP117',
    'BP118',
    'BP119',
    'BP120',
    'BP201',
    'BP309',
  ];
  test.each(invalidCases().filter(([name]) => shapes.includes(name.slice(0, 5))))(
    'refuses %s',
    (_, { blueprint }) => {
      expect(fits(blueprint)).toMatchObject({ valid: false });
    },
  );
});

function undescribed(schema: Json, at: string): string[] {
  if (!isJsonObject(schema)) return [];
  const found: string[] = [];
  for (const [group, members] of Object.entries(schema)) {
    if ((group !== 'properties' && group !== '$defs') || !isJsonObject(members)) continue;
    for (const [name, member] of Object.entries(members)) {
      const described =
        isJsonObject(member) && (member.description !== undefined || member.$ref !== undefined);
      if (!described) found.push(`${at}/${name}`);
      found.push(...undescribed(member, `${at}/${name}`));
    }
  }
  return found;
}
