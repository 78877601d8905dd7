/** Folders of blueprints at synth: in which order they are compiled, with which hashes, and what is said of bad ones. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readBlueprints, writeDocuments } from '../../../infra/blueprints/read-folder.ts';
import { documentHash } from '../../../lib/blueprint/canonical.ts';

const folders: string[] = [];
afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true, force: true });
});
function folder(files: Record<string, unknown>): string {
  const made = mkdtempSync(join(tmpdir(), 'mwe-folder-'));
  folders.push(made);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(made, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return made;
}

const echo = (id: string, more: object = {}) => ({
  id,
  steps: [{ id: 'say', type: 'call', tool: 'server/echo', params: {}, parse: 'text' }],
  ...more,
});
const calls = (id: string, ...workflows: string[]) => ({
  id,
  steps: workflows.map((workflow, i) => ({ id: `s${i}`, type: 'call', workflow })),
});

describe('good folders', () => {
  it('are compiled sub-workflows first, pinned by their documents', () => {
    const made = folder({
      'a.json': calls('a', 'c', 'b'),
      'b.json': echo('b'),
      'c.json': calls('c', 'b', 'a-floating@latest'),
      'a-floating.json': echo('a-floating'),
      'notes.txt': 'no blueprint',
    });
    const documents = readBlueprints(made, 900);
    expect(documents.map(({ id }) => id)).toEqual(['a-floating', 'b', 'c', 'a']);
    const [, b, c, a] = documents;
    expect(a?.document.workflows).toEqual({
      s0: { workflow: 'c', hash: c?.hash },
      s1: { workflow: 'b', hash: b?.hash },
    });
    expect(c?.document.workflows).toEqual({ s0: { workflow: 'b', hash: b?.hash } });
    for (const { hash, document } of documents) expect(documentHash(document)).toBe(hash);
  });

  it('become files named by their hashes, that read as what was compiled', () => {
    const made = folder({
      'b.json': echo('b', { params: { z: { type: 'string' }, a: { type: 'string' } } }),
    });
    const out = folder({});
    writeDocuments(made, 900, out);
    const [document] = readBlueprints(made, 900);
    expect(readdirSync(join(out, 'blueprints'))).toEqual([`${document?.hash}.json`]);
    const text = readFileSync(join(out, 'blueprints', `${document?.hash}.json`), 'utf8');
    expect(JSON.parse(text)).toEqual(document?.document);
    expect(text).toContain('"params":{"z":');
  });

  it('may be empty', () => {
    expect(readBlueprints(folder({}), 900)).toEqual([]);
  });

  it('have the same hashes wherever the stack is deployed to', () => {
    const made = folder({ 'b.json': echo('b') });
    expect(readBlueprints(made, 900)[0]?.hash).toBe(readBlueprints(made, 120)[0]?.hash);
  });
});

const faultOf = (made: string): string => {
  try {
    readBlueprints(made, 900);
  } catch (error) {
    expect(error).toMatchObject({ name: 'SynthFault' });
    return (error as Error).message.replaceAll(made, 'blueprints');
  }
  return '';
};

describe('bad folders', () => {
  const cases: [what: string, files: Record<string, unknown>, lines: string[]][] = [
    [
      'no JSON',
      { 'a.json': '{ "id": "a",\n}' },
      [
        '  a.json',
        '    blueprint: it is not JSON (line 2, column 1)',
        '      mend it there; JSON has no comments and no comma at an end',
      ],
    ],
    [
      "the language's own errors, with the rules of the stack",
      {
        'a.json': {
          id: 'a',
          steps: [
            {
              id: 'one',
              type: 'call',
              tool: 'server/echo',
              params: { ns: '{{ steps.nope }}' },
              parse: 'text',
            },
          ],
        },
        'b.json': { id: 'b', steps: [{ id: 'say', type: 'call', tool: 'echo', parse: 'text' }] },
      },
      [
        '  a.json',
        '    BP402 steps/0/params/ns: unknown step "nope"; no step comes before it',
        expect.stringContaining('      ') as unknown as string,
        '  b.json',
        '    steps/0/tool: "echo" names no server, and what the deployment owns must not depend on which servers can be reached',
        '      write "SERVER/echo", with the server\'s name in mcp.json',
      ],
    ],
    [
      'sub-workflows that are not shipped, pinned or floating',
      { 'cleanup.json': echo('cleanup'), 'a.json': calls('a', 'clean-up', 'elsewhere@latest') },
      [
        '  a.json',
        '    steps/0/workflow: there is no clean-up.json beside it, and what the deployment owns calls only what it owns. Did you mean "cleanup"?',
        '      ship clean-up.json in the same folder, or write "cleanup"',
        '    steps/1/workflow: there is no elsewhere.json beside it, and what the deployment owns calls only what it owns',
        '      ship elsewhere.json in the same folder',
      ],
    ],
    [
      'a file that is named otherwise than its blueprint, and so two of one id',
      { 'a.json': echo('a'), 'b.json': echo('a') },
      [
        '  b.json',
        '    id: the file is b.json, and its blueprint is "a"',
        '      name the file a.json, or the blueprint after the file',
      ],
    ],
    [
      'only what is at fault itself: who calls it waits',
      { 'a.json': calls('a', 'b'), 'b.json': { id: 'b', steps: [] } },
      [
        '  b.json',
        expect.stringMatching(/^ {4}BP\d+ steps: /) as unknown as string,
        expect.any(String) as unknown as string,
      ],
    ],
    [
      'a schedule that never could be',
      { 'a.json': echo('a', { schedules: [{ name: 'n', schedule: 'cron(0 2 * * *)' }] }) },
      [
        '  a.json',
        expect.stringMatching(
          /^ {4}BP122 schedules\/0\/schedule: cron\(0 2 \* \* \*\): a cron expression has 6 fields/,
        ) as unknown as string,
        expect.any(String) as unknown as string,
      ],
    ],
  ];
  it.each(cases)('%s', (_what, files, lines) => {
    const told = faultOf(folder(files)).split('\n');
    expect(told[0]).toBe('blueprints: blueprints that cannot be deployed:');
    expect(told.slice(1)).toEqual(lines);
  });

  it('circles, from wherever they are looked at', () => {
    const told = faultOf(folder({ 'a.json': calls('a', 'b'), 'b.json': calls('b', 'a') }));
    expect(told).toContain(
      'a.json\n    BP502 steps/0/workflow: workflows call each other in a circle: a calls b calls a',
    );
    expect(told).toContain(
      'b.json\n    BP502 steps/0/workflow: workflows call each other in a circle: b calls a calls b',
    );
  });

  it('one that is not there', () => {
    expect(faultOf('/nowhere/blueprints')).toBe(
      'blueprints:\n  the folder of blueprints cannot be read (ENOENT)',
    );
  });
});
