/**
 * An inline Map: iterations are lanes of this execution and read its variables. Any that fails ends the state (tolerated
 * failures belong to distributed Maps). At most 40 run at once, whatever MaxConcurrency says.
 * Source: developer guide, "Using Map state in Inline mode".
 */

import { MAX_INLINE_CONCURRENCY } from '../../../../asl/limits.ts';
import type { MapState } from '../../../../asl/types.ts';
import type { Json } from '../../../../blueprint/json.ts';
import type { GroupNode } from '../checkpoint.ts';
import { evaluate } from '../evaluate.ts';
import { type Lane, record, type Visit } from '../execution.ts';
import { resultTooLarge } from '../exit.ts';
import { runGroup } from '../group.ts';
import { exceedsPayload } from '../json-text.ts';

export async function runInline(visit: Visit<MapState>, items: Json[], concurrency: number): Promise<Json[]> {
  const { state, lane, name } = visit;
  let node =
    visit.resume?.kind === 'group' && visit.resume.members.length === items.length ? visit.resume : undefined;
  if (node === undefined) {
    const started = record(lane, 'MapStateStarted', [
      'mapStateStartedEventDetails',
      { length: items.length },
    ]);
    node = { kind: 'group', started, members: items.map(() => null) } satisfies GroupNode;
  }
  lane.node.inner = node;
  const results = await runGroup(visit, {
    node,
    concurrency: concurrency === 0 ? MAX_INLINE_CONCURRENCY : Math.min(concurrency, MAX_INLINE_CONCURRENCY),
    iteration: name,
    async run(iterationLane, index, resume) {
      if (resume === undefined) {
        const input = await select(visit, iterationLane, items[index] ?? null, index);
        Object.assign(iterationLane.node, { state: state.ItemProcessor.StartAt, input });
      }
      return visit.execution.walk(iterationLane, state.ItemProcessor.States);
    },
  });
  if (exceedsPayload(results)) throw resultTooLarge(name);
  const { previous } = lane;
  record(lane, 'MapStateSucceeded');
  lane.previous = previous;
  return results;
}

/** What an iteration gets: the item, or what ItemSelector makes of it. */
function select(visit: Visit<MapState>, lane: Lane, item: Json, index: number): Promise<Json> {
  const { ItemSelector } = visit.state;
  if (ItemSelector === undefined) return Promise.resolve(item);
  return evaluate(
    { ...visit, lane: { ...visit.lane, previous: lane.previous, signal: lane.signal } },
    ItemSelector,
    'ItemSelector',
    {
      mapItem: { Index: index, Value: item },
    },
  );
}
