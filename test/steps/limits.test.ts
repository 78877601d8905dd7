/** Limits from the environment. */
import { expect, test } from 'vitest';
import { LimitsError, limitsOf } from '../../lib/steps/limits.ts';

test('are the defaults where nothing is set', () => {
  expect(limitsOf({ PATH: '/bin', MWE_MAX_ATTEMPTS: '' })).toEqual({});
});

test('are raised and lowered by their variables', () => {
  expect(limitsOf({ MWE_MAX_ATTEMPTS: '250000', MWE_MAX_SUB_RUNS: '3' })).toEqual({
    maxAttempts: 250_000,
    maxSubRuns: 3,
  });
});

test('cannot pass what the language allows', () => {
  expect(limitsOf({ MWE_MAX_DEPTH: '3', MWE_MAX_RUN_SECONDS: '900' })).toEqual({
    maxDepth: 3,
    maxRunSeconds: 900,
  });
  expect(() => limitsOf({ MWE_MAX_DEPTH: '11' })).toThrow(
    'MWE_MAX_DEPTH: at most 10 is allowed, "11" is set',
  );
  expect(() => limitsOf({ MWE_MAX_RUN_SECONDS: '86401' })).toThrow('at most 86400');
});

test.each(['0', '-1', '1.5', 'many', '1e6', '99999999999999999999'])('%s is refused', (text) => {
  expect(() => limitsOf({ MWE_MAX_SUB_RUNS: text })).toThrow(LimitsError);
  expect(() => limitsOf({ MWE_MAX_SUB_RUNS: text })).toThrow('MWE_MAX_SUB_RUNS');
});
