/** Event patterns as EventBridge matches them, and those that the rehearsal does not know. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { checkPattern, matchesEvent } from '../../rehearsal/event-pattern.ts';

const EVENT: JsonObject = {
  source: 'aws.states',
  'detail-type': 'Step Functions Execution Status Change',
  resources: ['arn:a', 'arn:b'],
  detail: {
    status: 'FAILED',
    stateMachineArn: 'arn:aws:states:us-east-1:1:stateMachine:mwe-a',
    count: 3,
    gone: null,
  },
};

describe('matchesEvent', () => {
  const cases: [string, JsonObject, boolean][] = [
    ['a value', { source: ['aws.states'] }, true],
    ['another value', { source: ['aws.events'] }, false],
    ['one of several', { source: ['aws.events', 'aws.states'] }, true],
    ['all fields must match', { source: ['aws.states'], 'detail-type': ['other'] }, false],
    ['a field that is absent', { account: ['1'] }, false],
    ['a field inside', { detail: { status: ['FAILED', 'ABORTED'] } }, true],
    ['a field inside what is no object', { source: { status: ['FAILED'] } }, false],
    [
      'a prefix',
      { detail: { stateMachineArn: [{ prefix: 'arn:aws:states:us-east-1:1:stateMachine:mwe-' }] } },
      true,
    ],
    [
      'another prefix',
      { detail: { stateMachineArn: [{ prefix: 'arn:aws:states:us-east-1:1:stateMachine:x-' }] } },
      false,
    ],
    ['a prefix of a number', { detail: { count: [{ prefix: '3' }] } }, false],
    [
      'anything but a wildcard that does not match',
      { detail: { stateMachineArn: [{ 'anything-but': { wildcard: '*/*' } }] } },
      true,
    ],
    [
      'anything but a wildcard that matches',
      { detail: { stateMachineArn: [{ 'anything-but': { wildcard: 'arn:*:mwe-a' } }] } },
      false,
    ],
    [
      'a wildcard in which a dot is a dot',
      { source: [{ 'anything-but': { wildcard: 'aws?states' } }], detail: { status: ['FAILED'] } },
      true,
    ],
    ['a number', { detail: { count: [3] } }, true],
    ['null', { detail: { gone: [null] } }, true],
    ['one entry of a list', { resources: ['arn:b'] }, true],
    ['no entry of a list', { resources: ['arn:c'] }, false],
  ];
  it.each(cases)('%s', (_name, pattern, matches) => {
    checkPattern(pattern, 'pattern');
    expect(matchesEvent(pattern, EVENT)).toBe(matches);
  });
});

describe('checkPattern refuses', () => {
  const cases: [string, JsonObject, string][] = [
    ['an operator', { detail: { status: [{ 'anything-but': ['SUCCEEDED'] }] } }, 'pattern/detail/status'],
    [
      'another anything-but',
      { source: [{ 'anything-but': { suffix: '/x' } }] },
      'pattern/source: {"anything-but":{"suffix":"/x"}}',
    ],
    ['a prefix with more beside it', { source: [{ prefix: 'a', suffix: 'b' }] }, 'pattern/source'],
    ['alternatives', { $or: [{ source: ['a'] }] }, 'pattern/$or'],
    ['a value that is no list', { source: 'aws.states' }, 'pattern/source: "aws.states"'],
    ['an empty list', { source: [] }, 'pattern/source: []'],
  ];
  it.each(cases)('%s', (_name, pattern, message) => {
    expect(() => checkPattern(pattern, 'pattern')).toThrow(message);
  });
});
