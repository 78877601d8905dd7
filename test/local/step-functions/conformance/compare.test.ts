/** The comparison itself: a recording agrees with itself and with nothing that differs from it in a place that counts. */
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../lib/blueprint/json.ts';
import type { RecordedCase, RecordedEvent } from './cases.ts';
import { differences, parsedObject } from './compare.ts';

const CAUSE = '{"errorMessage":"m","errorType":"T","requestId":"<uuid:1>","stackTrace":["line"]}';

function recording(extra: Partial<RecordedCase> = {}): RecordedCase {
  return {
    file: 'f',
    id: 'f',
    type: 'STANDARD',
    definition: { StartAt: 'A', States: {} },
    input: {},
    lambdas: {},
    expect: {
      status: 'FAILED',
      error: 'T',
      cause: { requestId: '<uuid:1>', at: 'date' },
      events: [
        { type: 'ExecutionStarted', id: 1, previousEventId: 0, input: {} },
        { type: 'TaskFailed', id: 2, previousEventId: 1, error: 'T', output: { Cause: CAUSE } },
        { type: 'ExecutionFailed', id: 3, previousEventId: 2, error: 'T', requestId: 'id is <uuid:1>.' },
      ],
    },
    eventOrder: 'deterministic',
    volatile: ['/cause/requestId', '/cause/at', '/events/1/output/Cause', '/events/2/requestId'],
    ...extra,
  };
}

/** What a run gave that agrees with the recording, then changed. */
function got(change: (top: JsonObject, events: RecordedEvent[]) => void = () => undefined): string[] {
  const top: JsonObject = { status: 'FAILED', error: 'T', cause: { requestId: 'u-1', at: '2026' } };
  const events: RecordedEvent[] = [
    { type: 'ExecutionStarted', id: 1, previousEventId: 0, input: {} },
    {
      type: 'TaskFailed',
      id: 2,
      previousEventId: 1,
      error: 'T',
      output: { Cause: '{"errorMessage": "m", "errorType": "T", "requestId": "u", "stackTrace": []}' },
    },
    { type: 'ExecutionFailed', id: 3, previousEventId: 2, error: 'T', requestId: 'id is u-1.' },
  ];
  change(top, events);
  return differences(recording(), top, events);
}

describe('differences', () => {
  test('none', () => expect(got()).toEqual([]));

  test.each<[string, (top: JsonObject, events: RecordedEvent[]) => void]>([
    ['another status', (top) => Object.assign(top, { status: 'SUCCEEDED' })],
    ['a field too many', (top) => Object.assign(top, { output: null })],
    ['a field missing', (top) => delete top.error],
    ['an event missing', (_, events) => events.pop()],
    ['another previousEventId', (_, events) => Object.assign(events[1] ?? {}, { previousEventId: 0 })],
    ['another type', (_, events) => Object.assign(events[1] ?? {}, { type: 'TaskTimedOut' })],
    ['another input', (_, events) => Object.assign(events[0] ?? {}, { input: { a: 1 } })],
    ['another placeholder', (_, events) => Object.assign(events[2] ?? {}, { requestId: 'id is u-2.' })],
    ['other text around it', (_, events) => Object.assign(events[2] ?? {}, { requestId: 'ID is u-1.' })],
    [
      'another error message',
      (_, events) => Object.assign(events[1] ?? {}, { output: { Cause: CAUSE.replace('"m"', '"n"') } }),
    ],
    ['a volatile place missing', (top) => Object.assign(top, { cause: { requestId: 'u-1' } })],
  ])('%s', (_, change) => expect(got(change)).not.toEqual([]));

  test('a sorted section of a Parallel agrees in any order, but not with other events', () => {
    const section = (types: string[]): RecordedEvent[] => [
      { type: 'ParallelStateStarted', id: 1, previousEventId: 0 },
      ...types.map((type, index) => ({ type, id: index + 2, previousEventId: 1 })),
      { type: 'ParallelStateExited', id: types.length + 2, previousEventId: 1 },
    ];
    const recorded = recording({
      eventOrder: 'parallel-sections-sorted',
      volatile: [],
      expect: {
        status: 'SUCCEEDED',
        events: section(['A', 'B']).map((event) =>
          /^[AB]$/.test(event.type) ? { ...event, id: 0, previousEventId: 0 } : event,
        ),
      },
    });
    expect(differences(recorded, { status: 'SUCCEEDED' }, section(['B', 'A']))).toEqual([]);
    expect(differences(recorded, { status: 'SUCCEEDED' }, section(['B', 'C']))).not.toEqual([]);
    expect(differences(recorded, { status: 'SUCCEEDED' }, section(['A']))).not.toEqual([]);
  });
});

test.each<[Json, Json]>([
  ['{"a":1}', { a: 1 }],
  ['{not json', '{not json'],
  ['[1]', '[1]'],
  [1, 1],
])('parsedObject(%j)', (value, expected) => expect(parsedObject(value)).toEqual(expected));
