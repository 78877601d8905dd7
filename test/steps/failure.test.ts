/**
 * What leaves call-tool when something goes wrong that nobody foresaw. History, events and callers show it, so it is the
 * name of the error and a sentence of ours; the log has the rest.
 */
import { describe, expect, it } from 'vitest';
import { StepFailure } from '../../lib/blueprint/errors.ts';
import { faultFields, leavingError, namedError, publicFailure } from '../../lib/steps/failure.ts';

const own = publicFailure({ step: 's', path: 's', kind: 'ToolError', message: 'secret', attempts: 1 });
const UNEXPECTED = 'an unexpected fault inside the engine; the log of call-tool tells more';

describe('leavingError', () => {
  it.each([own, namedError('Busy', 'another delivery works on step "s"')])(
    'passes what was made to leave: %s',
    (error) => {
      expect(leavingError(error)).toBe(error);
    },
  );

  it.each([
    new RangeError('Maximum call stack size exceeded'),
    new StepFailure('ToolError', "the tool's own text"),
    Object.assign(new Error('no such table: /home/me/x'), { name: 'ResourceNotFoundException' }),
  ])('keeps of any other only the name: %s', (error) => {
    const leaving = leavingError(error);
    expect(leaving).toMatchObject({ name: error.name, message: UNEXPECTED });
    expect(leaving.stack).toBe(`${error.name}: ${UNEXPECTED}`);
    expect(leaving.cause).toBeUndefined();
  });

  it('takes what is no error', () => {
    expect(leavingError('text').stack).toBe(`Error: ${UNEXPECTED}`);
  });
});

it('the log has where it happened, and no text that a parser could not read', () => {
  const fields = faultFields(new RangeError('too deep'));
  expect(fields).toMatchObject({ error: 'RangeError', message: 'too deep' });
  expect(fields.trace).toContain('failure.test.ts');
  try {
    JSON.parse('{"password": hunter2}');
  } catch (error) {
    expect(JSON.stringify(faultFields(error))).not.toContain('hunter2');
  }
});
