import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import type { ParseMode } from '../../lib/blueprint/types.ts';
import { storeBlobs } from '../../lib/downstream/blobs.ts';
import { type ContentBlock, resultValue } from '../../lib/downstream/value.ts';

const text = (value: string): ContentBlock => ({ type: 'text', text: value });
const image: ContentBlock = { type: 'image', mimeType: 'image/png', bytes: 8, blob: 'ref' };
const link: ContentBlock = { type: 'resource_link', uri: 'file:///x', name: 'x' };
const embedded: ContentBlock = { type: 'resource', resource: { uri: 'file:///x', text: 'a: 1' } };

describe('without parse', () => {
  const cases: [what: string, content: ContentBlock[], value: Json][] = [
    ['an object', [text('{"a": 1}')], { a: 1 }],
    ['an array with space around it', [text(' \n[1, 2]\n')], [1, 2]],
    ['text that only looks like JSON', [text('[INFO] started')], '[INFO] started'],
    ['text that begins as JSON', [text('{"a": 1} and more')], '{"a": 1} and more'],
    ['a number stays a string', [text('00713')], '00713'],
    ['12 stays a string', [text('12')], '12'],
    ['true stays a string', [text('true')], 'true'],
    ['null stays a string', [text('null')], 'null'],
    ['a quoted string stays as it is', [text('"a"')], '"a"'],
    ['spaces stay', [text('  a ')], '  a '],
    ['empty text', [text('')], ''],
    ['no block', [], []],
    ['two texts', [text('{}'), text('b')], [text('{}'), text('b')]],
    ['an image', [image], [image]],
    ['a text and an image', [text('a'), image], [text('a'), image]],
    ['a link', [link], [link]],
    ['an embedded resource', [embedded], [embedded]],
  ];
  it.each(cases)('%s', (_, content, value) => {
    expect(resultValue({ content })).toEqual(value);
  });

  it.each<Json>([{ a: 1 }, [], null, 0, '', false])('structured content %j comes first', (structured) => {
    expect(resultValue({ content: [text('{"other": 1}')], structured })).toEqual(structured);
  });
});

describe('with parse', () => {
  const cases: [mode: ParseMode, content: ContentBlock[], value: Json][] = [
    ['raw', [text('{}')], [text('{}')]],
    ['raw', [], []],
    ['text', [text('{"a": 1}')], '{"a": 1}'],
    ['text', [text('a'), image, text('b')], 'a\nb'],
    ['text', [embedded], 'a: 1'],
    ['text', [text('a'), embedded], 'a'],
    ['text', [], ''],
    ['lines', [text('a\nb\r\nc\rd\n')], ['a', 'b', 'c', 'd']],
    ['lines', [text('a\n\n')], ['a', '']],
    ['lines', [text('')], []],
    ['lines', [text('one')], ['one']],
    ['lines', [], []],
    ['json', [text('12')], 12],
    ['json', [text(' null ')], null],
    ['json', [text('\ufeff"a"')], 'a'],
    ['json', [text('{"__proto__": {"x": 1}}')], JSON.parse('{"__proto__": {"x": 1}}')],
    ['yaml', [text('a: 1\nb: [x, 2]')], { a: 1, b: ['x', 2] }],
    ['yaml', [text('- a\n- 00713\n- no\n- 2026-11-30')], ['a', 713, 'no', '2026-11-30']],
    ['yaml', [text('')], null],
    ['yaml', [text('# nothing\n')], null],
    ['yaml', [text('~')], null],
    ['yaml', [embedded], { a: 1 }],
    ['yaml', [text('a: &x {b: 1}\nc: *x')], { a: { b: 1 }, c: { b: 1 } }],
    ['yaml', [text('1: one\ntrue: yes')], { '1': 'one', true: 'yes' }],
    [
      'yaml',
      [text('size: 1448\ncreated: Mon Nov 30 2026 09:09:50 GMT+0000 (UTC)')],
      { size: 1448, created: 'Mon Nov 30 2026 09:09:50 GMT+0000 (UTC)' },
    ],
  ];
  it.each(cases)('%s of %j', (mode, content, value) => {
    expect(resultValue({ content }, mode)).toEqual(value);
  });

  it.each<[ParseMode, Json]>([
    ['json', { from: 'text' }],
    ['yaml', { from: 'text' }],
    ['lines', ['{"from": "text"}']],
    ['text', '{"from": "text"}'],
    ['raw', [text('{"from": "text"}')]],
    ['structured', { from: 'structure' }],
  ])('%s where structured content exists', (mode, value) => {
    const result = { content: [text('{"from": "text"}')], structured: { from: 'structure' } };
    expect(resultValue(result, mode)).toEqual(value);
  });

  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
  for (const [here, before] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf', 'hg']) {
    bomb.push(
      `${here}: &${here} [*${before},*${before},*${before},*${before},*${before},*${before},*${before},*${before},*${before}]`,
    );
  }
  const failures: [mode: ParseMode, content: ContentBlock[], message: string][] = [
    ['structured', [text('{}')], 'the tool gave no structured content'],
    ['json', [text('{"a": 1,}')], 'the text is not JSON (line 1, column 9); it starts with "{\\"a\\": 1,}"'],
    ['json', [text('a\nb')], 'the text is not JSON'],
    ['json', [text(' ')], 'the text is empty, which is not JSON'],
    ['json', [], 'the text is empty, which is not JSON'],
    ['json', [image, link], 'the result has no text, only image, resource_link'],
    ['lines', [image], 'the result has no text, only image'],
    ['yaml', [text('just words')], 'the text is YAML for a string; an object or an array was expected'],
    ['yaml', [text('12')], 'the text is YAML for a number'],
    ['yaml', [text('a: [1')], 'the text is not YAML'],
    ['yaml', [text('a: 1\na: 2')], 'the text is not YAML'],
    ['yaml', [text('a: 1\n---\nb: 2')], 'the text is not YAML'],
    ['yaml', [text('a: .inf')], 'the YAML has a number that JSON cannot hold'],
    ['yaml', [text('a: *nobody')], 'the text is not YAML'],
    ['yaml', [text(bomb.join('\n'))], 'the text is not YAML (Excessive alias count'],
    ['yaml', [text('&a [*a]')], 'the'],
  ];
  it.each(failures)('%s of %j fails', (mode, content, message) => {
    expect(() => resultValue({ content }, mode)).toThrow(
      expect.objectContaining({ kind: 'ParseError', message: expect.stringContaining(message) }),
    );
  });

  it.each<[ParseMode | undefined, string]>([
    [undefined, '['.repeat(5000) + ']'.repeat(5000)],
    ['json', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
    ['yaml', '['.repeat(5000) + ']'.repeat(5000)],
  ])('%s of thousands of levels is refused, not a stack overflow', (mode, deep) => {
    expect(() => resultValue({ content: [text(deep)] }, mode)).toThrow(
      expect.objectContaining({ kind: expect.stringMatching(/ResultTooLarge|ParseError/) }),
    );
  });

  const lines = (count: number, line: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => line(n)).join('\n');
  it.each<[what: string, yaml: string, kind: string | undefined]>([
    ['50,000 keys', lines(50_000, (n) => `k${n}: 1`), undefined],
    ['50,000 keys and one twice', `${lines(50_000, (n) => `k${n}: 1`)}\nk7: 1`, 'ParseError'],
    ['50,000 aliases of as many nodes', lines(50_000, (n) => `- &a${n} 1\n- *a${n}`), 'ParseError'],
    ['more than 4 MiB', 'x'.repeat(5_000_000), 'ResultTooLarge'],
  ])(
    'YAML of %s takes no time that grows with its square',
    (_, yaml, kind) => {
      const began = performance.now();
      const read = () => resultValue({ content: [text(yaml)] }, 'yaml');
      if (kind === undefined) expect(Object.keys(read() as object)).toHaveLength(50_000);
      else expect(read).toThrow(expect.objectContaining({ kind }));
      expect(performance.now() - began).toBeLessThan(15_000);
    },
    60_000,
  );

  it('any JSON comes back by json, and by yaml where it is an object or an array', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const content = [text(JSON.stringify(value))];
        const expected = JSON.parse(JSON.stringify(value));
        expect(resultValue({ content }, 'json')).toEqual(expected);
        if (typeof value === 'object' && value !== null)
          expect(resultValue({ content }, 'yaml')).toEqual(expected);
      }),
    );
  });

  it('no text makes any mode throw anything but a StepFailure, or changes the result', () => {
    const modes: (ParseMode | undefined)[] = [undefined, 'json', 'yaml', 'lines', 'text', 'raw'];
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...modes), (value, mode) => {
        const content = [text(value)];
        try {
          resultValue({ content }, mode);
        } catch (error) {
          expect(error).toMatchObject({ kind: 'ParseError' });
        }
        expect(content).toEqual([text(value)]);
      }),
    );
  });
});

describe('binary parts', () => {
  it('become references, in their place; the result that came is not changed', async () => {
    const content: ContentBlock[] = [
      text('a'),
      { type: 'image', data: 'AAEC', mimeType: 'image/png', annotations: { priority: 1 } },
      { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///z', blob: 'AAE=' } },
    ];
    const before = structuredClone(content);
    const stored: [number[], string][] = [];
    const result = await storeBlobs(
      { content, isError: false, structured: { a: 1 } },
      async (bytes, type) => {
        stored.push([[...bytes], type]);
        return { key: `k${stored.length}` };
      },
    );
    expect(result).toEqual({
      isError: false,
      structured: { a: 1 },
      content: [
        text('a'),
        { type: 'image', mimeType: 'image/png', annotations: { priority: 1 }, bytes: 3, blob: { key: 'k1' } },
        { type: 'audio', mimeType: 'audio/wav', bytes: 1, blob: { key: 'k2' } },
        {
          type: 'resource',
          resource: { uri: 'file:///z', mimeType: 'application/octet-stream', bytes: 2, blob: { key: 'k3' } },
        },
      ],
    });
    expect(stored).toEqual([
      [[0, 1, 2], 'image/png'],
      [[0], 'audio/wav'],
      [[0, 1], 'application/octet-stream'],
    ]);
    expect(content).toEqual(before);
  });

  it('a result without any is handed back as it is', async () => {
    const result = { content: [text('a')], isError: false };
    expect(await storeBlobs(result, () => Promise.reject(new Error('nothing to store')))).toBe(result);
  });
});
