/** What an execution shows of its values: links, the values themselves, or nothing; and only in the task's own event. */
import { GetExecutionHistoryCommand, type HistoryEvent } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../lib/blueprint/json.ts';
import type { Blueprint, Step } from '../../lib/blueprint/types.ts';
import type { TaskAnswer } from '../../lib/compile/protocol.ts';
import type { Inspect } from '../../lib/steps/inspect.ts';
import { runTask } from '../../lib/steps/run-task.ts';
import { valueLink } from '../../lib/store/console-links.ts';
import { freshName, type Harness, startHarness } from './harness.ts';

const places = { region: 'eu-west-1', table: 'mwe', bucket: 'mwe-bucket' };
const LINKS: Inspect = { mode: 'links', linkOf: (location) => valueLink(places, location) };
const LARGE = 'x'.repeat(9 * 1024);
const HUGE = 'y'.repeat(40 * 1024);

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());
beforeEach(() => {
  harness.tasks.length = 0;
});

const work = (id: string, value: string, more: Partial<Step> = {}): Step =>
  ({ id, type: 'call', tool: 'counting/work', params: { value }, ...more }) as Step;

/** Every kind of step that has a value. */
function everyStep(): Blueprint {
  return {
    id: freshName(),
    steps: [
      work('plain', 'small'),
      work('retried', 'small', { errorStrategy: { maxRetries: 2, retryDelayMs: 0 } }),
      work('large', LARGE),
      work('huge', HUGE),
      { id: 'both', type: 'parallel', branches: [work('left', 'l'), work('right', 'r')] },
      { id: 'batch', type: 'loop', over: [1, 2], do: work('each', 'item') },
      { id: 'lanes', type: 'loop', over: [1, 2, 3], concurrency: 20, do: work('lane', 'item') },
      { id: 'map', type: 'loop', over: [1, 2], mode: 'map', do: work('state', 'item') },
    ],
    output: { done: '{{ steps.plain }}' },
  };
}

/** Answers by step; ` finish` has none, and a lane's are left out. */
function answers(): Map<string, TaskAnswer> {
  const found = new Map<string, TaskAnswer>();
  for (const { task, answer } of harness.tasks) {
    if (task.op === 'begin' || task.op === 'lane' || task.op === 'items') continue;
    found.set(task.op === 'finish' ? ' finish' : task.at + task.step, answer as TaskAnswer);
  }
  return found;
}

async function run(inspect: Inspect) {
  harness.env.inspect = inspect;
  const ended = await harness.run(everyStep());
  expect(ended.execution).toBe('SUCCEEDED');
  const shown = new Map([...answers()].map(([step, { value }]) => [step, value]));
  const events: HistoryEvent[] = [];
  let nextToken: string | undefined;
  do {
    const page = await harness.sfn.send(
      new GetExecutionHistoryCommand({ executionArn: ended.run.execution, maxResults: 1000, nextToken }),
    );
    events.push(...(page.events ?? []));
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return { ended, shown, events };
}

/** What went from state to state: every input and every output. */
function passedOn(events: readonly HistoryEvent[]): string {
  return events
    .flatMap((event) => [
      event.stateEnteredEventDetails?.input,
      event.stateExitedEventDetails?.output,
      event.executionSucceededEventDetails?.output,
    ])
    .join('\n');
}

describe('a task shows', () => {
  it('nothing by default', async () => {
    const { shown } = await run({ mode: 'none' });
    expect([...shown.values()].every((value) => value === undefined)).toBe(true);
  });

  it('a link to where its value is stored', async () => {
    const { ended, shown, events } = await run(LINKS);
    const { run: id } = ended.run;
    const item = (sk: string) =>
      `https://eu-west-1.console.aws.amazon.com/dynamodbv2/home?region=eu-west-1#edit-item?itemMode=2&pk=RUN%23${id}&route=ROUTE_ITEM_EXPLORER&sk=${encodeURIComponent(sk)}&table=mwe`;
    expect(shown.get('plain')).toBe(item('VALUE#plain'));
    expect(shown.get('retried')).toBe(item('VALUE#retried'));
    expect(shown.get('both')).toBe(item('VALUE#both'));
    expect(shown.get('map/00001/state')).toBe(item('VALUE#map/00001/state'));
    for (const loop of ['batch', 'lanes', 'map']) expect(shown.get(loop)).toBe(item(`WINDOW#${loop}#000000`));
    expect(shown.get(' finish')).toBe(item('VALUE#$output'));
    expect(String(shown.get('large'))).toMatch(
      new RegExp(
        `^https://eu-west-1\\.console\\.aws\\.amazon\\.com/s3/object/mwe-bucket\\?region=eu-west-1&prefix=values%2F${id}%2F[0-9a-f]{64}\\.json$`,
      ),
    );
    expect(passedOn(events)).not.toContain('console.aws');
  });

  it('the value itself up to 32 KiB, where the deployment says so', async () => {
    const { shown, events } = await run({ mode: 'values' });
    expect(shown.get('plain')).toEqual({ value: 'small' });
    expect(shown.get('large')).toEqual({ value: LARGE });
    expect(shown.get('huge')).toBeUndefined();
    const items = (count: number): Json => Array.from({ length: count }, () => ({ value: 'item' }));
    expect(shown.get('batch')).toEqual(items(2));
    expect(shown.get('lanes')).toEqual(items(3));
    expect(shown.get(' finish')).toEqual({ done: { value: 'small' } });
    expect(JSON.stringify(events)).toContain('small');
    expect(passedOn(events)).not.toMatch(/small|xxx|item/);
  });
});

it('a second delivery shows the same', async () => {
  harness.env.inspect = LINKS;
  const ended = await harness.run({ id: freshName(), steps: [work('large', LARGE)] });
  const first = harness.tasks.find(({ task }) => task.op === 'call');
  if (first === undefined) throw new Error('no task');
  const again = await runTask(first.task, harness.env);
  expect(again.value).toBe((first.answer as TaskAnswer).value);
  expect(again.value).toContain(`values%2F${ended.run.run}`);
});
