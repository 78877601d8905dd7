/**
 * The interpreter against what AWS itself recorded. `left-out.json` lists the cases that it does not run and why; a
 * case in that list that passes, or that does not exist, fails the suite.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../lib/blueprint/json.ts';
import { execute, functionError, type Handler } from '../interpreter/execute.ts';
import { conformanceFolder, executedCases, type LambdaFixture, type RecordedCase } from './cases.ts';
import { asRecorded, differences, parsedObject } from './compare.ts';

const leftOut = JSON.parse(readFileSync(new URL('left-out.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>;

if (conformanceFolder === undefined) {
  describe.skip('AWS recordings (skipped: ASL_CONFORMANCE names no folder)', () => {
    test('need the folder of recorded cases', () => undefined);
  });
} else {
  const cases = executedCases(conformanceFolder);

  describe('AWS recordings', () => {
    test('there are cases', () => {
      expect(cases.length).toBeGreaterThan(100);
    });

    test.each(cases.filter(({ file }) => leftOut[file] === undefined))('$file', async (recorded) => {
      expect(await run(recorded)).toEqual([]);
    });
  });

  describe('cases left out', () => {
    test.each(Object.entries(leftOut))('%s: %s', async (file) => {
      const recorded = cases.find((candidate) => candidate.file === file);
      if (recorded === undefined) throw new Error(`left-out.json names ${file}, which is not a case`);
      expect(await run(recorded), 'it passes: take it off the list').not.toEqual([]);
    });
  });
}

async function run(recorded: RecordedCase): Promise<string[]> {
  const functions = Object.fromEntries(
    Object.entries(recorded.lambdas).map(([name, fixture]) => [name, handlerOf(fixture)]),
  );
  const { outcome, events } = await execute(recorded.definition, {
    input: recorded.input,
    functions,
    start: { type: recorded.type },
    errorText: (error, requestId) => pythonError(recorded, error, requestId),
  });
  const got: JsonObject = { status: outcome.status };
  if (outcome.status === 'SUCCEEDED') got.output = outcome.output;
  else {
    if (outcome.error !== undefined) got.error = outcome.error;
    if (outcome.cause !== undefined) got.cause = parsedObject(outcome.cause);
  }
  return differences(recorded, got, events.map(asRecorded));
}

function handlerOf(fixture: LambdaFixture): Handler {
  switch (fixture.behaviour) {
    case 'echo':
      return (payload) => payload;
    case 'return':
      return () => fixture.value ?? null;
    case 'throw':
      return () => {
        throw functionError(fixture.errorType ?? 'Exception', fixture.errorMessage);
      };
  }
}

/** What Python's runtime answers for an exception: a space after each colon and comma. */
function pythonError(
  recorded: RecordedCase,
  error: { name: string; message: string },
  requestId: string,
): string {
  const fixture = Object.values(recorded.lambdas).find((candidate) => candidate.errorType === error.name);
  const fields: [string, Json][] = [
    ['errorMessage', error.message],
    ['errorType', error.name],
    ['requestId', requestId],
    ['stackTrace', fixture?.stackTrace ?? []],
  ];
  return `{${fields.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(', ')}}`;
}
