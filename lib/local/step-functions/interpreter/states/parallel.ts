/** Parallel: every branch gets the same input; the output is the array of their outputs. A redrive runs what has none. */
import type { ParallelState } from '../../../../asl/types.ts';
import type { GroupNode } from '../checkpoint.ts';
import { evaluate } from '../evaluate.ts';
import { record, type Transition, type Visit } from '../execution.ts';
import { leaveState, resultTooLarge } from '../exit.ts';
import { runGroup } from '../group.ts';
import { exceedsPayload } from '../json-text.ts';
import { withRetryAndCatch } from '../retry.ts';

export function runParallel(visit: Visit<ParallelState>): Promise<Transition> {
  return withRetryAndCatch(visit, visit.state, async () => {
    const results = await branches(visit);
    return leaveState(visit, visit.state, results, { result: results });
  });
}

async function branches(visit: Visit<ParallelState>) {
  const { state, lane } = visit;
  const input =
    state.Arguments === undefined ? visit.input : await evaluate(visit, state.Arguments, 'Arguments');
  let node = visit.resume?.kind === 'group' ? visit.resume : undefined;
  if (node === undefined) {
    const started = record(lane, 'ParallelStateStarted');
    node = { kind: 'group', started, members: state.Branches.map(() => null) } satisfies GroupNode;
  }
  lane.node.inner = node;
  const results = await runGroup(visit, {
    node,
    concurrency: state.Branches.length,
    run(branchLane, index, resume) {
      const branch = state.Branches[index] ?? { StartAt: '', States: {} };
      if (resume === undefined) Object.assign(branchLane.node, { state: branch.StartAt, input });
      return visit.execution.walk(branchLane, branch.States);
    },
  });
  if (exceedsPayload(results)) throw resultTooLarge(visit.name);
  const { previous } = lane;
  record(lane, 'ParallelStateSucceeded');
  lane.previous = previous;
  return results;
}
