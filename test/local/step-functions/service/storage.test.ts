/** Logs, histories and pages by themselves. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HistoryEvent } from '../../../../lib/local/step-functions/contract.ts';
import { decodeToken, encodeToken, takePage } from '../../../../lib/local/step-functions/service/pages.ts';
import { createCheckpointWriter } from '../../../../lib/local/step-functions/service/storage/checkpoints.ts';
import {
  createLogWriter,
  readIfPresent,
} from '../../../../lib/local/step-functions/service/storage/files.ts';
import { createHistoryStore } from '../../../../lib/local/step-functions/service/storage/history.ts';
import { makeDataDir, removeDataDir } from './harness.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await makeDataDir();
});
afterEach(() => removeDataDir(dataDir));

test('a flush resolves when all that was appended is in the file, in order', async () => {
  const writer = createLogWriter();
  const path = join(dataDir, 'deep', 'log');
  const expected: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    for (let line = 0; line < 50; line += 1) {
      expected.push(`${round}.${line}\n`);
      writer.append(path, `${round}.${line}\n`);
    }
    if (round % 3 === 0) {
      await writer.flush(path);
      expect(await readFile(path, 'utf8')).toBe(expected.join(''));
    }
  }
  await writer.close();
  expect(await readFile(path, 'utf8')).toBe(expected.join(''));
});

test('a failed write makes every later flush fail', async () => {
  const writer = createLogWriter();
  await mkdir(join(dataDir, 'a-folder'));
  writer.append(join(dataDir, 'a-folder'), 'x\n');
  await expect(writer.flush()).rejects.toThrow('EISDIR');
  writer.append(join(dataDir, 'fine'), 'x\n');
  await expect(writer.flush(join(dataDir, 'fine'))).rejects.toThrow('EISDIR');
});

test('histories are read back by id, whatever the texts and wherever they are read from', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 30 }),
      fc.nat(),
      fc.nat(),
      async (texts, a, b) => {
        const path = join(dataDir, `${texts.length}-${a}-${b}.history`);
        await writeFile(path, '');
        const events = texts.map(
          (name, index): HistoryEvent => ({
            id: index + 1,
            previousEventId: index,
            timestamp: 1.5,
            type: 'PassStateEntered',
            stateEnteredEventDetails: { name },
          }),
        );
        const [from, to] = [1 + (a % texts.length), 1 + (b % texts.length)].sort((x, y) => x - y) as [
          number,
          number,
        ];
        const writer = createLogWriter();
        const live = createHistoryStore(writer);
        for (const event of events) live.append(path, event);
        expect(await live.read(path, from, to)).toEqual(events.slice(from - 1, to));
        live.release(path);
        await writer.close();
        const reopened = createHistoryStore(createLogWriter());
        expect(await reopened.count(path)).toBe(events.length);
        expect(await reopened.read(path, from, to)).toEqual(events.slice(from - 1, to));
      },
    ),
    { numRuns: 30 },
  );
});

test('a history longer than one read is found again', async () => {
  const writer = createLogWriter();
  const store = createHistoryStore(writer);
  const path = join(dataDir, 'long.history');
  const input = 'é'.repeat(100_000);
  for (let id = 1; id <= 25; id += 1) {
    store.append(path, {
      id,
      previousEventId: id - 1,
      timestamp: 1,
      type: 'x',
      stateEnteredEventDetails: { input },
    });
  }
  await writer.close();
  const reopened = createHistoryStore(createLogWriter());
  expect(await reopened.count(path)).toBe(25);
  expect((await reopened.read(path, 24, 25)).map((event) => event.id)).toEqual([24, 25]);
  expect(await reopened.read(path, 26, 30)).toEqual([]);
});

test('the latest checkpoint is the one on disk after settling, and none after dropping', async () => {
  const flushed: string[] = [];
  const failures: unknown[] = [];
  const writer = createCheckpointWriter(
    async (path) => void flushed.push(path),
    (error) => failures.push(error),
  );
  const path = join(dataDir, 'x', 'one.checkpoint');
  for (let count = 0; count < 100; count += 1) {
    writer.put(path, { count });
    if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await writer.settle(path);
  expect(await readIfPresent(path)).toBe('{"count":99}');
  expect(flushed.length).toBeLessThan(100);
  writer.put(path, { count: 100 });
  await writer.drop(path);
  expect(await readIfPresent(path)).toBeUndefined();
  expect(failures).toEqual([]);
});

test('pages cover a list once, in order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat()), fc.integer({ min: 1, max: 7 }), (numbers, size) => {
      const sorted = numbers.toSorted((a, b) => a - b);
      const seen: number[] = [];
      let token: string | undefined;
      do {
        const after = decodeToken(['list'], token, 0);
        const { page, more } = takePage(sorted, size, (each) => typeof after !== 'number' || each > after);
        seen.push(...page);
        token = more ? encodeToken(['list'], page.at(-1) ?? 0, 0) : undefined;
      } while (token !== undefined);
      expect(seen).toEqual(sorted);
    }),
  );
});

test('a token is of its query, and of the last 24 hours', () => {
  const token = encodeToken(['a', 1], 'position', 1000);
  expect(decodeToken(['a', 1], token, 1000)).toBe('position');
  const day = 24 * 60 * 60 * 1000;
  expect(() => decodeToken(['a', 2], token, 1000)).toThrow('Invalid Token');
  expect(decodeToken(['a', 1], token, 1000 + day)).toBe('position');
  expect(() => decodeToken(['a', 1], token, 1001 + day)).toThrow('Invalid Token');
  fc.assert(
    fc.property(
      fc.string(),
      (text) => void expect(() => decodeToken(['a', 1], text, 0)).toThrow('Invalid Token'),
    ),
  );
});
