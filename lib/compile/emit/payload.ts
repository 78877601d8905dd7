/**
 * What travels through the machine. The states' input is one small object that never holds an argument or a result:
 *
 *     { "task": { "abi": 1, "workflow": "sync", "hash": "9f…", "run": "…", "execution": "arn:…", "epoch": 0, "at": "" },
 *       "answer": {…},  what the last task answered, where the Choice after it reads it
 *       "count": 12,    between the items task of a map and its settle task
 *       "lane": 3 }     inside a lane
 *
 * `task` is what every task of call-tool is told; the task adds its op, its step and the epoch of this delivery:
 *
 *     "Payload": "{% $merge([$states.input.task, {'op': 'call', 'step': 'pods', 'epoch': …}]) %}"
 *
 * A distributed map's children have no variables of their parent, so all of it is in the input.
 */
import type { Json } from '../../blueprint/json.ts';
import type { StepTask } from '../protocol.ts';

/** Redrives of this execution, on top of those of the execution that started it. */
const EPOCH = '$states.input.task.epoch + $states.context.Execution.RedriveCount';

/** The payload of a task. Ids are `[A-Za-z0-9_-]` and stand in quotes as they are. */
export function stepPayload(op: StepTask['op'], step: string): string {
  const lane = op === 'lane' ? `, 'lane': $states.input.lane` : '';
  return `{% $merge([$states.input.task, {'op': '${op}', 'step': '${step}'${lane}, 'epoch': ${EPOCH}}]) %}`;
}

/** Output of a state that passes on what its tasks need and nothing else. */
export const KEEP_TASK = "{% {'task': $states.input.task} %}";

/** What a task answered, without what it shows to people of its value: that stands in its own event and goes no further. */
const ANSWER = "$sift($states.result.Payload, function($v, $k) {$k != 'value'})";

/** Output of a task whose answer the Choice after it reads. */
export const KEEP_ANSWER = `{% {'task': $states.input.task, 'answer': ${ANSWER}} %}`;

/** Output of an items task: the map needs `count`, again where its settle task answers `again`. */
export const KEEP_COUNT =
  "{% {'task': $states.input.task, 'count': $states.result.Payload.count, 'answer': $states.result.Payload} %}";

/** Output of a map, so that its settle task can lead back into it. */
export const PASS_COUNT = "{% {'task': $states.input.task, 'count': $states.input.count} %}";
export const PASS_COUNT_AND_ANSWER = `{% {'task': $states.input.task, 'count': $states.input.count, 'answer': ${ANSWER}} %}`;

/** Output of a lane's task that may be sent again: the lane's number stays. */
export const PASS_LANE_AND_ANSWER =
  "{% {'task': $states.input.task, 'lane': $states.input.lane, 'answer': $states.result.Payload} %}";
export const PASS_LANE = "{% {'task': $states.input.task, 'lane': $states.input.lane} %}";

/** Output of a pass task of a `while`: the states after it work where it says. */
export const MOVE_TO_ANSWER = `{% {'task': $merge([$states.input.task, {'at': $states.result.Payload.at}]), 'answer': ${ANSWER}} %}`;

/**
 * Output of a failed pass task: out of the pass that it may stand in.
 *
 *     'rows/00002/pages/00007/' → 'rows/00002/'        'rows/00002/' → 'rows/00002/'
 */
export function leavePass(loop: string): string {
  const outer = `$replace($states.input.task.at, /(^|\\/)${loop}\\/\\d+\\/$/, '$1')`;
  return `{% {'task': $merge([$states.input.task, {'at': ${outer}}])} %}`;
}

/**
 * `count` items of one constant: the values are in the store, so an item is no more than its place. A range up to nothing
 * would be an empty list, and a loop over nothing a success: an answer without a count is an error instead.
 */
export const ITEMS =
  "{% $exists($states.input.count) ? [[1..$states.input.count].(0)] : $error('the items task answered no count') %}";

/** Input of an iteration: the same task one level down, `at` + `pods/00012/`. */
export function iterationSelector(loop: string, distributed: boolean): Json {
  const at = `'at': $states.input.task.at & '${loop}/' & $pad($string($states.context.Map.Item.Index), -5, '0') & '/'`;
  return { task: `{% $merge([$states.input.task, {${at}${childEpoch(distributed)}}]) %}` };
}

/** Input of a lane: the same task, and which lane it is. */
export function laneSelector(distributed: boolean): Json {
  const task = distributed
    ? `{% $merge([$states.input.task, {${childEpoch(true).slice(2)}}]) %}`
    : '{% $states.input.task %}';
  return { task, lane: '{% $states.context.Map.Item.Index %}' };
}

/** A child execution counts its redrives from nothing, so it is told those of the execution that starts it. */
function childEpoch(distributed: boolean): string {
  return distributed ? `, 'epoch': ${EPOCH}` : '';
}
