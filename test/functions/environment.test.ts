/** What a function makes of its environment; a fault ends its start with one line that names the variable. */
import { describe, expect, it } from 'vitest';
import { Environment, EnvironmentError, engineLimits } from '../../functions/environment.ts';
import { DEFAULT_ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { AuthConfigError, parseAuthConfig } from '../../lib/mcp/auth/config.ts';

const ARN = 'arn:aws:lambda:eu-central-1:123456789012:function:call-tool';

describe('reads', () => {
  it.each<[string, string | undefined, (environment: Environment) => unknown, unknown]>([
    ['a text', 'x', (e) => e.text('V'), 'x'],
    ['a text that may be missing', undefined, (e) => e.optional('V'), undefined],
    ['an empty text as none', '', (e) => e.optional('V'), undefined],
    ['a number', '900', (e) => e.count('V'), 900],
    ['a number that is missing', undefined, (e) => e.count('V', 7), 7],
    ['one of some words', 'all', (e) => e.oneOf('V', ['off', 'all'], 'off'), 'all'],
    ['a word that is missing', '', (e) => e.oneOf('V', ['off', 'all'], 'off'), 'off'],
    [
      'a list',
      ' https://a.example, https://b.example ,',
      (e) => e.list('V'),
      ['https://a.example', 'https://b.example'],
    ],
    ['an empty list', undefined, (e) => e.list('V'), []],
    ['an object', '{"a":1}', (e) => e.json('V'), { a: 1 }],
    ['an ARN', ARN, (e) => e.arn('V'), { arn: ARN, partition: 'aws', accountId: '123456789012' }],
  ])('%s', (_, value, read, expected) => {
    expect(read(new Environment(value === undefined ? {} : { V: value }))).toEqual(expected);
  });

  it('the limits of a principal, each by itself', () => {
    expect(engineLimits(new Environment({}))).toEqual(DEFAULT_ENGINE_LIMITS);
    expect(engineLimits(new Environment({ MWE_MAX_OPEN_RUNS: '3' }))).toEqual({
      ...DEFAULT_ENGINE_LIMITS,
      openRuns: 3,
    });
  });
});

describe('refuses', () => {
  it.each<[string, string | undefined, (environment: Environment) => unknown, string]>([
    [
      'nothing',
      undefined,
      (e) => e.text('V'),
      'V: the environment variable is missing or empty; the stack sets it',
    ],
    [
      'an empty text',
      '',
      (e) => e.text('V'),
      'V: the environment variable is missing or empty; the stack sets it',
    ],
    ['a word', 'many', (e) => e.count('V'), 'V: a whole number from 1 is needed, "many" is set'],
    ['zero', '0', (e) => e.count('V', 5), 'V: a whole number from 1 is needed, "0" is set'],
    ['a fraction', '1.5', (e) => e.count('V'), 'V: a whole number from 1 is needed, "1.5" is set'],
    [
      'another word',
      'on',
      (e) => e.oneOf('V', ['off', 'all'], 'off'),
      'V: one of off, all is needed, "on" is set',
    ],
    ['no JSON', '{', (e) => e.json('V'), 'V: JSON is needed, and what is set is none'],
    ['a JSON list', '[]', (e) => e.json('V'), 'V: a JSON object is needed'],
    ['no ARN', 'call-tool', (e) => e.arn('V'), 'V: an ARN with an account is needed, "call-tool" is set'],
    [
      'a configuration that is none',
      '{"mode":"none"}',
      (e) => e.checked('V', parseAuthConfig),
      'V: auth/mode: Invalid discriminator value',
    ],
  ])('%s', (_, value, read, message) => {
    const environment = new Environment(value === undefined ? {} : { V: value });
    expect(() => read(environment)).toThrow(EnvironmentError);
    expect(() => read(environment)).toThrow(message);
    expect(message).not.toContain('\n');
  });

  it('with the fault itself as the cause', () => {
    const environment = new Environment({ V: '{}' });
    try {
      environment.checked('V', parseAuthConfig);
    } catch (error) {
      expect((error as Error).cause).toBeInstanceOf(AuthConfigError);
    }
    expect.assertions(1);
  });
});
