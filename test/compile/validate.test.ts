/** Validation: what is allowed, and what holds for an input of any kind. What is refused is in invalid.test.ts. */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../lib/blueprint/json.ts';
import { blueprintSchema } from '../../lib/blueprint/schema.ts';
import type { Step } from '../../lib/blueprint/types.ts';
import { type ValidationEnvironment, validateBlueprint } from '../../lib/compile/validate.ts';
import { arbitraryBlueprint } from './arbitrary-blueprint.ts';

const call = (id: string, params: Record<string, Json> = {}): Step => ({
  id,
  type: 'call',
  tool: 'tool',
  params,
});

function errorsOf(steps: Step[], more: Record<string, Json> = {}): string[] {
  const { diagnostics } = validateBlueprint({ id: 'allowed', steps, ...more });
  return diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

describe('what an expression may read', () => {
  test.each<[string, Step[], Record<string, Json>?]>([
    ['a step before', [call('a'), call('b', { x: '{{ steps.a }}', y: '{{ results.a.status }}' })]],
    [
      'a step before the container around',
      [call('a'), { id: 'l', type: 'loop', over: '{{ steps.a }}', do: call('b', { x: '{{ $.steps.a }}' }) }],
    ],
    [
      'a step inside a pipe, a parallel and a collect, after it',
      [
        {
          id: 'p',
          type: 'parallel',
          branches: [
            call('a'),
            { id: 'q', type: 'pipe', steps: [{ id: 'c', type: 'collect', steps: [call('b')] }] },
          ],
        },
        call('d', { x: '{{ [steps.a, steps.b, steps.c, steps.q, steps.p] }}' }),
      ],
    ],
    [
      'inner steps, in what is evaluated after them',
      [
        {
          id: 'c',
          type: 'collect',
          steps: [call('a')],
          select: { a: '{{ steps.a }}', all: '{{ output.a }}' },
          failWhen: '{{ !(steps.a) }}',
        },
      ],
    ],
    [
      'the same item: steps, item, index',
      [
        {
          id: 'l',
          type: 'loop',
          over: [1],
          as: 'row',
          do: [call('a', { n: '{{ index }}' }), call('b', { x: '{{ steps.a }}', r: '{{ row }}' })],
        },
      ],
    ],
    [
      'the items of all loops around',
      [
        {
          id: 'l',
          type: 'loop',
          over: [[1]],
          as: 'row',
          do: {
            id: 'm',
            type: 'loop',
            over: '{{ row }}',
            as: 'cell',
            do: call('a', { x: '{{ [row, cell] }}' }),
          },
        },
      ],
    ],
    [
      'input in a pipe, also from inside a loop and a branch',
      [
        {
          id: 'p',
          type: 'pipe',
          steps: [
            call('a'),
            { id: 'l', type: 'loop', over: '{{ input }}', do: call('b', { x: '{{ input.length }}' }) },
            { id: 'q', type: 'parallel', branches: [call('c', { x: '{{ input }}' })] },
          ],
        },
      ],
    ],
    [
      'input and output of a while',
      [
        {
          id: 'w',
          type: 'loop',
          while: '{{ output.next && index < `2` }}',
          max: 3,
          do: call('a', { cursor: '{{ input.next }}', n: '{{ index }}' }),
          failWhen: '{{ !output }}',
        },
      ],
    ],
    [
      'output in select and failWhen of a call',
      [{ id: 'a', type: 'call', tool: 't', select: '{{ output.x }}', failWhen: '{{ output.y }}' }],
    ],
    [
      'parameters as a whole, and run',
      [call('a', { x: '{{ params }}', y: 'run {{ run.id }}' })],
      { params: { p: { type: 'string' } } },
    ],
    [
      'every step in the output',
      [call('a'), { id: 'l', type: 'loop', over: [1], do: call('b') }],
      {
        output: { a: '{{ steps.a }}', l: '{{ steps.l }}', e: '{{ run.errors }}', n: '{{ results.l.count }}' },
      },
    ],
    [
      'a list of templates in over',
      [call('a'), { id: 'l', type: 'loop', over: ['{{ steps.a }}', 'b'], do: call('b') }],
    ],
    [
      'ids with hyphens, and names of fields as ids',
      [call('list-pods'), call('items', { x: '{{ steps.list-pods.items.0 }}' })],
    ],
    [
      'braces that are data',
      [call('a', { x: '\\{{ jinja }}', y: '{% if %}', z: { constructor: 1, prototype: 2 } })],
    ],
  ])('%s', (_, steps, more) => {
    expect(errorsOf(steps, more)).toEqual([]);
  });
});

describe('blueprints of this repository', () => {
  const inFolder = (folder: string) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json') && !name.includes('.machine.'))
      .map((name) => `${folder}/${name}`);
  const validate = (path: string) => validateBlueprint(JSON.parse(readFileSync(path, 'utf8'))).diagnostics;

  test.each(inFolder('test/corpus/valid'))('%s has nothing to warn about', (path) => {
    expect(validate(path)).toEqual([]);
  });

  test.each(inFolder('blueprints'))('%s has no error', (path) => {
    expect(validate(path).filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

describe('what is warned about', () => {
  const tool = {
    server: 'k8s',
    name: 'tool',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
  };
  const codes = (steps: Step[], env: ValidationEnvironment, more: Record<string, Json> = {}) =>
    validateBlueprint({ id: 'warned', steps, ...more }, env).diagnostics.map(({ code }) => code);

  test('nothing, where nothing is known of tools', () => {
    expect(codes([call('a')], {})).toEqual([]);
  });

  test('nothing, where the tool is known and the call fits', () => {
    expect(codes([call('a', { x: 1 })], { tools: [tool] })).toEqual([]);
  });

  test('no connected server at all', () => {
    expect(codes([call('a')], { tools: [], serverNames: [] })).toEqual(['BP601']);
  });

  test('a call that changes something needs no reader, one that only reads does', () => {
    const steps = [call('a'), call('b')];
    expect(codes(steps, { tools: [tool] })).toEqual([]);
    expect(codes(steps, { tools: [{ ...tool, readOnly: true }] })).toEqual(['BP701']);
    expect(
      codes(steps, { tools: [{ ...tool, readOnly: true }] }, { output: '{{ results.a.status }}' }),
    ).toEqual(['BP701']);
  });

  test.each<[string, Step, boolean]>([
    ['the last step of a pipe', { id: 'c', type: 'pipe', steps: [call('b'), call('a')] }, false],
    ['any step of a collect', { id: 'c', type: 'collect', steps: [call('a'), call('b')] }, false],
    ['the last step of a branch', { id: 'c', type: 'parallel', branches: [[call('a')]] }, false],
    ['the last step of a loop', { id: 'c', type: 'loop', over: [1], do: [call('a')] }, false],
    ['the first step of a loop', { id: 'c', type: 'loop', over: [1], do: [call('a'), call('b')] }, true],
  ])('the value of a container has the value of %s', (_, container, unread) => {
    const env = { tools: [{ ...tool, readOnly: true }] };
    const { diagnostics } = validateBlueprint(
      { id: 'warned', steps: [container, call('z', { x: '{{ steps.c }}' })] },
      env,
    );
    expect(diagnostics.filter(({ message }) => message.includes('"a"')).map(({ code }) => code)).toEqual(
      unread ? ['BP701'] : [],
    );
  });

  test('an output schema that promises a list takes the null warning away', () => {
    const outputSchema = { type: 'object', properties: { items: { type: 'array' } }, required: ['items'] };
    const steps = [
      call('a'),
      call('b', { n: '{{ length(steps.a.items) }}', m: '{{ length(steps.a.more) }}' }),
    ];
    const found = validateBlueprint(
      { id: 'warned', steps },
      { tools: [{ ...tool, outputSchema }] },
    ).diagnostics;
    expect(found.map(({ code, pointer }) => [code, pointer])).toEqual([['BP806', '/steps/1/params/m']]);
  });

  test('a schema that the validator cannot work with says nothing', () => {
    const schemas = [
      { type: 'nonsense' },
      { $ref: '#' },
      { properties: { x: { $ref: '#/nowhere' } } },
      { properties: { x: { pattern: '(' } } },
      { properties: 5, required: 'x' },
    ];
    for (const inputSchema of schemas) {
      const { blueprint } = validateBlueprint(
        { id: 'a', steps: [call('a', { x: 'y' })] },
        { tools: [{ ...tool, inputSchema: inputSchema as never }] },
      );
      expect(blueprint).toBeDefined();
    }
  });
});

describe('an input of any kind', () => {
  const anything = fc.oneof(
    fc.anything(),
    fc.jsonValue({ maxDepth: 6 }),
    fc.constantFrom(undefined, null, [], {}, '', 0),
  );

  test('gets diagnostics, never an exception', () => {
    fc.assert(
      fc.property(anything, (input) => {
        const { blueprint, diagnostics } = validateBlueprint(input);
        expect(blueprint === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: 300 },
    );
  });

  test('a valid blueprint is accepted, typed, parsed, and left as it was', () => {
    fc.assert(
      fc.property(arbitraryBlueprint(), (blueprint) => {
        const before = structuredClone(blueprint);
        const validation = validateBlueprint(blueprint);
        expect(validation.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
        expect(validation.blueprint).toBe(blueprint);
        expect(validation.program?.byId.size).toBeGreaterThan(0);
        expect(blueprint).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });

  test('a valid blueprint with anything put anywhere gets diagnostics that point into it', () => {
    const poison = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom(
        '__proto__',
        'constructor',
        'prototype',
        '{{ steps.s1 }}',
        '{{ steps }}',
        '{{',
        '{{ $ }}',
        '{{ [[[ }}',
        'a'.repeat(5000),
      ),
    );
    fc.assert(
      fc.property(arbitraryBlueprint(), fc.nat(), poison, (blueprint, at, value) => {
        const mutated = JSON.parse(JSON.stringify(blueprint)) as Json;
        replaceNth(mutated, at, value as Json);
        const { diagnostics } = validateBlueprint(mutated, {
          tools: [
            {
              server: 'a',
              name: 'list',
              inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
            },
          ],
        });
        for (const { pointer } of diagnostics)
          expect([pointer, exists(mutated, pointer)]).toEqual([pointer, true]);
        const shapeFits = blueprintSchema.safeParse(mutated).success;
        const shapeFaults = diagnostics.filter(({ code }) => /^BP11[0-7]$|^BP309$|^BP201$/.test(code));
        if (!shapeFits) expect(shapeFaults.length).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });

  test('a graph with cycles ends at the depth limit', () => {
    const input: Record<string, unknown> = { id: 'a' };
    input.steps = [input, input];
    expect(validateBlueprint(input).diagnostics.map(({ code }) => code)).toEqual(['BP102']);
  });
});

describe('1 MB is answered fast', () => {
  const reader = (id: string, source: string): Json => ({
    id,
    type: 'call',
    tool: 't',
    when: `{{ ${source} }}`,
  });
  const fill = (make: (i: number) => Json): Json[] => {
    const items: Json[] = [];
    for (let i = 0, bytes = 0; bytes < 1_000_000; i++) {
      const item = make(i);
      bytes += JSON.stringify(item).length + 1;
      items.push(item);
    }
    return items;
  };
  test.each<[string, () => Json]>([
    [
      'steps that each read the one before',
      () => fill((i) => reader(`s${i}`, `steps.s${i - 1}.items[?a == $.params.b]`)),
    ],
    ['steps that all read what does not exist', () => fill((i) => reader(`s${i}`, `steps.x${i}`))],
    ['steps without an id', () => fill(() => ({ type: 'call', tool: 't', when: '{{ steps.abc }}' }))],
    ['numbers for steps', () => fill((i) => i)],
    ['one long text of templates', () => [reader('a', 'b }}{{ c'.repeat(60_000))]],
    ['one long text of braces', () => [reader('a', '{'.repeat(1_000_000))]],
  ])('%s', (_, make) => {
    const steps = make();
    const input = { id: 'large', params: { b: { type: 'string' } }, steps };
    const started = process.cpuUsage();
    const { diagnostics } = validateBlueprint(input, { tools: [], workflows: () => undefined });
    const used = process.cpuUsage(started); // not the clock: other tests share the machine
    expect(diagnostics.length).toBeGreaterThan(0);
    expect((used.user + used.system) / 1000).toBeLessThan(3000);
  });
});

/** Replaces the nth value inside, counting in document order and around. */
function replaceNth(root: Json, at: number, value: Json): void {
  const places: [Json[] | { [key: string]: Json }, string][] = [];
  const visit = (node: Json) => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push([node, key]);
      visit((node as { [key: string]: Json })[key] ?? null);
    }
  };
  visit(root);
  const place = places[at % places.length];
  if (place !== undefined) (place[0] as { [key: string]: Json })[place[1]] = value;
}

function exists(root: Json, pointer: string): boolean {
  let value: Json | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
    value = Array.isArray(value) ? value[Number(key)] : isJsonObject(value) ? value[key] : undefined;
  }
  return true;
}

describe('takes its time and no more', () => {
  test('over long paths', () => {
    const long = `{{ steps.a${'.b'.repeat(1000)} }}`;
    const steps = [call('a'), ...Array.from({ length: 100 }, (_, i) => call(`s${i}`, { x: long }))];
    const began = performance.now();
    expect(errorsOf(steps)).toEqual([]);
    expect(performance.now() - began).toBeLessThan(20_000);
  }, 60_000);

  const doubling: JsonObject = { d0: { type: 'string' } };
  for (let i = 1; i < 40; i++) {
    const before = { $ref: `#/$defs/d${i - 1}` };
    doubling[`d${i}`] = { allOf: [before, before] };
  }
  test.each<[string, JsonObject]>([
    ['a pattern that backtracks', { properties: { x: { pattern: '^(.|.)*\\u0000$' }, y: { type: 'null' } } }],
    [
      'references that double',
      { properties: { x: { $ref: '#/$defs/d39' }, y: { type: 'null' } }, $defs: doubling },
    ],
  ])('over a schema of a server with %s', (_, inputSchema) => {
    const tool = { server: 'srv', name: 'tool', inputSchema };
    const given = { x: 'x'.repeat(100), y: 'never looked at' };
    const began = performance.now();
    const { diagnostics } = validateBlueprint(
      { id: 'slow', steps: [call('a', given), call('b', given)] },
      { tools: [tool], serverNames: ['srv'], unavailable: [] },
    );
    expect(performance.now() - began).toBeLessThan(5000);
    expect(diagnostics.filter(({ code }) => code === 'BP604')).toEqual([]);
  });
});
