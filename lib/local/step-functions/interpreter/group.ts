/**
 * Lanes that run side by side within a state: branches of a Parallel, iterations of an inline Map. The first that fails
 * ends the others, and the history says so in the order that AWS recorded: for each lane that was running, in order of
 * index, how the iteration ended and which state of it was aborted.
 */
import type { Json } from '../../../blueprint/json.ts';
import type { GroupNode, LaneNode } from './checkpoint.ts';
import { childController, type Lane, type Member, type Visit } from './execution.ts';
import { Interrupted, StateError } from './failure.ts';
import { innerScope, leaveScope } from './variables.ts';

export interface GroupPlan {
  node: GroupNode;
  /** How many may run at once. */
  concurrency: number;
  /** Name of the Map state, which gets iteration events; absent for a Parallel. */
  iteration?: string;
  /** Runs one lane to its end. `node` is where it resumes; absent for a fresh one. */
  run(lane: Lane, index: number, node: LaneNode | undefined): Promise<Json>;
}

/**
 * Runs every member that has no output yet.
 * @returns the outputs, in order of index
 * @throws StateError of the first member that failed; Interrupted
 */
export async function runGroup(visit: Visit, plan: GroupPlan): Promise<Json[]> {
  const { lane: outer } = visit;
  const { members } = plan.node;
  const { controller, release } = childController(outer.signal);
  const started: Member[] = [];
  if (outer.current !== undefined) outer.current.inner = started;

  let failure: { error: unknown; member: Member } | undefined;
  let next = 0;

  /** Takes the next member that has work to do; `previous` is the event that made room for it. */
  const start = (previous: number): (() => Promise<void>) | undefined => {
    while (next < members.length && isDone(members[next])) next += 1;
    if (next >= members.length) return undefined;
    const index = next;
    next += 1;
    const member = openMember(visit, plan, index, previous, controller.signal);
    started.push(member);
    return () => drive(member);
  };

  const drive = async (first: Member): Promise<void> => {
    let member: Member | undefined = first;
    try {
      while (member !== undefined) {
        const output = await plan.run(member.lane, member.index, resumeNode(members[member.index]));
        member.active = false;
        members[member.index] = { output };
        leaveScope(member.lane.scope);
        const before = member.lane.previous;
        outer.previous = plan.iteration === undefined ? before : closeIteration(member, plan.iteration);
        const follow = start(before);
        if (follow === undefined) return;
        member = started[started.length - 1];
      }
    } catch (error) {
      if (failure === undefined && !controller.signal.aborted && member !== undefined) {
        failure = { error, member };
        controller.abort(new Interrupted());
      }
    }
  };

  try {
    const first: (() => Promise<void>)[] = [];
    while (first.length < plan.concurrency) {
      const go = start(outer.previous);
      if (go === undefined) break;
      first.push(go);
    }
    await Promise.all(first.map((go) => go()));
  } finally {
    release();
  }

  if (failure !== undefined) {
    const { error, member } = failure;
    if (error instanceof StateError && !error.fatal) recordEnd(outer, started, member);
    if (outer.current !== undefined) delete outer.current.inner;
    throw error;
  }
  if (outer.signal.aborted) throw new Interrupted();
  if (outer.current !== undefined) delete outer.current.inner;
  return members.map((member) => (isDone(member) ? member.output : null));
}

function openMember(
  visit: Visit,
  plan: GroupPlan,
  index: number,
  previous: number,
  signal: AbortSignal,
): Member {
  const { lane: outer, execution } = visit;
  const resume = resumeNode(plan.node.members[index]);
  const lane: Lane = {
    execution,
    scope: innerScope(outer.scope, resume?.variables ?? {}),
    signal,
    previous,
    node: resume ?? { state: '', input: null, variables: {}, entered: 0, enteredTime: '' },
  };
  plan.node.members[index] = { lane: lane.node };
  const member: Member = { index, lane, active: true };
  if (plan.iteration !== undefined) {
    member.iteration = plan.iteration;
    if (resume === undefined) recordIteration('Started', lane, plan.iteration, index);
  }
  return member;
}

function closeIteration(member: Member, name: string): number {
  return recordIteration('Succeeded', member.lane, name, member.index);
}

function recordIteration(what: string, lane: Lane, name: string, index: number): number {
  const key = `mapIteration${what}EventDetails` as const;
  lane.previous = lane.execution.history.record(`MapIteration${what}`, lane.previous, [key, { name, index }]);
  return lane.previous;
}

/** The events of a group that ends because `failed` did. All point at the failed lane's last event. */
function recordEnd(outer: Lane, started: Member[], failed: Member): void {
  const { previous } = failed.lane;
  for (const member of started) {
    if (!member.active) continue;
    recordAborted(member, previous, member === failed ? 'Failed' : 'Aborted');
  }
  outer.previous = previous;
}

const ABORTABLE = new Set(['Task', 'Wait', 'Parallel', 'Map']);

function recordAborted(member: Member, previous: number, how: 'Failed' | 'Aborted'): void {
  const { lane, iteration, index } = member;
  const { history } = lane.execution;
  member.active = false;
  if (iteration !== undefined) {
    history.record(`MapIteration${how}`, previous, [
      `mapIteration${how}EventDetails`,
      { name: iteration, index },
    ]);
  }
  if (lane.current === undefined) return;
  if (ABORTABLE.has(lane.current.type)) history.record(`${lane.current.type}StateAborted`, previous);
  for (const inner of lane.current.inner ?? []) {
    if (inner.active) recordAborted(inner, previous, 'Aborted');
  }
}

function isDone(member: GroupNode['members'][number] | undefined): member is { output: Json } {
  return member !== undefined && member !== null && 'output' in member;
}

function resumeNode(member: GroupNode['members'][number] | undefined): LaneNode | undefined {
  return member !== undefined && member !== null && 'lane' in member && member.lane.entered > 0
    ? member.lane
    : undefined;
}
