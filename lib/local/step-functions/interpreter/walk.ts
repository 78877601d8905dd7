/** Walking a lane: enter a state, run it, go where it leads, until the lane ends. */
import type { State } from '../../../asl/types.ts';
import type { Json } from '../../../blueprint/json.ts';
import { isoTime, type Lane, record, type Transition, type Visit } from './execution.ts';
import { Interrupted, STATES, StateError } from './failure.ts';
import { jsonText } from './json-text.ts';
import { refuseJsonPath } from './query-language.ts';
import { runChoice } from './states/choice.ts';
import { runFail } from './states/fail.ts';
import { runMap } from './states/map.ts';
import { runParallel } from './states/parallel.ts';
import { runPass } from './states/pass.ts';
import { runSucceed } from './states/succeed.ts';
import { runTask } from './states/task.ts';
import { runWait } from './states/wait.ts';

/**
 * Runs the lane from the state its node names. A fresh lane has `entered` 0 in its node; one that goes on from a
 * checkpoint has the event that entered the state before, and enters it without a new Entered event.
 * @returns the last state's output
 * @throws StateError that no state handled; Interrupted
 */
export async function walk(lane: Lane, states: Record<string, State>): Promise<Json> {
  let visit =
    lane.node.entered === 0 ? enter(lane, states, lane.node.state, lane.node.input) : reenter(lane, states);
  for (;;) {
    lane.execution.moved();
    const { output, next } = await run(visit);
    delete lane.node.inner;
    if (next === undefined) return output;
    if (lane.signal.aborted) throw new Interrupted();
    visit = enter(lane, states, next, output);
  }
}

function enter(lane: Lane, states: Record<string, State>, name: string, input: Json): Visit {
  const state = find(states, name);
  const entryPrevious = lane.previous;
  const entered = record(lane, `${state.Type}StateEntered`, [
    'stateEnteredEventDetails',
    { name, input: jsonText(input), inputDetails: { truncated: false } },
  ]);
  const enteredTime = isoTime(lane.execution.host.clock.now());
  Object.assign(lane.node, { state: name, input, variables: lane.scope.values, entered, enteredTime });
  return begin(lane, state, state.Type === 'Wait' ? entered : entryPrevious);
}

/**
 * The state that a checkpoint names. It was entered before, so nothing is recorded; what follows points at the event that
 * entered it, as AWS has it for a redrive.
 */
function reenter(lane: Lane, states: Record<string, State>): Visit {
  const state = find(states, lane.node.state);
  lane.previous = lane.node.entered;
  return { ...begin(lane, state, lane.previous), resume: lane.node.inner };
}

function begin(lane: Lane, state: State, entryPrevious: number): Visit {
  lane.current = { type: state.Type };
  const { state: name, input, entered, enteredTime } = lane.node;
  const { execution } = lane;
  return { execution, lane, name, state, input, entered, enteredTime, entryPrevious, retryCount: 0 };
}

function find(states: Record<string, State>, name: string): State {
  const state = Object.hasOwn(states, name) ? states[name] : undefined;
  if (state === undefined) throw new StateError(STATES.RUNTIME, `The state '${name}' does not exist.`);
  return state;
}

function run(visit: Visit): Promise<Transition> {
  refuseJsonPath(visit);
  const { state } = visit;
  switch (state.Type) {
    case 'Pass':
      return runPass({ ...visit, state });
    case 'Choice':
      return runChoice({ ...visit, state });
    case 'Wait':
      return runWait({ ...visit, state });
    case 'Succeed':
      return runSucceed({ ...visit, state });
    case 'Fail':
      return runFail({ ...visit, state });
    case 'Task':
      return runTask({ ...visit, state });
    case 'Parallel':
      return runParallel({ ...visit, state });
    case 'Map':
      return runMap({ ...visit, state });
  }
}
