/**
 * What leaves call-tool when something goes wrong that nobody foresaw. History, events and callers show it, so it is the
 * name of the error and a sentence of ours; the log has the rest.
 */
import { describe, expect, it } from 'vitest';
import { ERROR_KINDS, StepFailure } from '../../lib/blueprint/errors.ts';
import { leavingError, namedError, publicFailure } from '../../lib/steps/failure.ts';
import { faultFields } from '../../lib/telemetry/fault-fields.ts';

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

describe('what a red state says', () => {
  const failed = { step: 'describe', path: 'pods/00012/describe', message: 'secret', attempts: 3 };
  const called = { ...failed, server: 'k8s', tool: 'describe_pod' };

  it.each(ERROR_KINDS)('%s: which tool on which server, where, how often, and no value', (kind) => {
    const { stack } = publicFailure({ ...called, kind });
    expect(stack).toMatch(
      new RegExp(`^${kind}: step "pods/00012/describe" \\(k8s/describe_pod\\): [^:]{10,} after 3 attempts$`),
    );
    expect(stack).not.toContain('secret');
  });

  it.each([
    [
      'never sent',
      { ...called, attempts: 0 },
      'step "pods/00012/describe" (k8s/describe_pod): a template could not be evaluated',
    ],
    [
      'no tool',
      { ...failed, attempts: 1 },
      'step "pods/00012/describe": a template could not be evaluated after 1 attempt',
    ],
    [
      'no place',
      { ...failed, step: ' finish', path: '', attempts: 0 },
      'step " finish": a template could not be evaluated',
    ],
  ])('%s', (_, error, sentence) => {
    expect(publicFailure({ ...error, kind: 'TemplateError' }).message).toBe(sentence);
  });
});
