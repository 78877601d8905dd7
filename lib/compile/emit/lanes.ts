/**
 * A batch loop of more than 10 items at once: lanes, each a task that walks its share of the items, up to 10 at a time.
 * Every lane has a function to itself, and answers `more` and `wait` for itself.
 *
 *     in the Map "pods", once a lane:   pods lane ─▶ pods lane next ─▶ pods lane end
 *                                        ▲ ▲              ├─ more ─┐
 *                                        │ └──────────────│────────┘
 *                                        └────────────────└─ wait ─▶ pods lane wait
 */
import { endOf, laneOf, nextOf, waitOf } from '../plan/names.ts';
import type { PlannedLanes } from '../plan/plan.ts';
import { described } from './comment.ts';
import { emitMap } from './map.ts';
import { laneSelector, PASS_LANE, PASS_LANE_AND_ANSWER } from './payload.ts';
import { stepFailures } from './retry.ts';
import type { Scope } from './scope.ts';
import { addChoice, addEnd, addTask, addWait } from './task.ts';

export function emitLanes(scope: Scope, step: PlannedLanes, next: string): void {
  emitMap(scope, step, next, {
    comment: described(
      `loop in ${step.lanes} lanes, ${step.node.concurrency} items at a time in all`,
      step.node,
    ),
    items: Array<number>(step.lanes).fill(0),
    selector: laneSelector(step.distributed),
    concurrency: step.lanes,
    startAt: laneOf(step.id),
    iteration: (inner) => emitLane(inner, step),
  });
}

function emitLane(scope: Scope, step: PlannedLanes): void {
  const lane = laneOf(step.id);
  const end = endOf(lane);
  addTask(scope, lane, {
    comment: `one lane of the loop "${step.id}"`,
    op: 'lane',
    step: step.id,
    output: PASS_LANE_AND_ANSWER,
    next: nextOf(lane),
    catches: stepFailures(end, 0),
  });
  addChoice(
    scope,
    lane,
    [
      { status: 'more', to: lane },
      { status: 'wait', to: waitOf(lane) },
    ],
    end,
  );
  addWait(scope, lane, PASS_LANE);
  addEnd(scope, end);
}
