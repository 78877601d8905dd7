/**
 * Lanes that run side by side within a state: branches of a Parallel, iterations of an inline Map. The first that fails
 * ends the others, and the history says so in the order that AWS recorded: for each lane that was running, in order of
 * index, how the iteration ended and which state of it was aborted. Nothing of that is recorded for States.Runtime.
 */
import type { Json } from '../../../blueprint/json.ts';
import type { GroupNode, LaneNode, MemberNode } from './checkpoint.ts';
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
  const { members, started: startedId } = plan.node;
  const { controller, release } = childController(outer.signal);
  const started: Member[] = [];
  if (outer.current !== undefined) outer.current.inner = started;
  outer.previous = startedId;

  let failed: { error: unknown; member: Member } | undefined;
  let next = 0;

  /** Opens the next member that has work to do; `previous` is the event that made room for it. */
  const open = (previous: number): Member | undefined => {
    while (next < members.length && outputOf(members[next]) !== undefined) next += 1;
    if (next >= members.length) return undefined;
    const member = openMember(visit, plan, next, previous, controller.signal);
    next += 1;
    started.push(member);
    return member;
  };

  /** @returns the member that takes its place, if any */
  const runMember = async (member: Member): Promise<Member | undefined> => {
    const { lane, index, resume } = member;
    try {
      members[index] = { output: await plan.run(lane, index, resume) };
      visit.execution.moved();
      const before = lane.previous;
      member.active = false;
      leaveScope(lane.scope);
      outer.previous =
        plan.iteration === undefined ? before : recordIteration('Succeeded', lane, plan.iteration, index);
      return open(before);
    } catch (error) {
      if (failed === undefined && !controller.signal.aborted) {
        failed = { error, member };
        controller.abort(new Interrupted());
      }
      return undefined;
    }
  };

  const drive = async (first: Member): Promise<void> => {
    let member: Member | undefined = first;
    while (member !== undefined) member = await runMember(member);
  };

  try {
    const first: Member[] = [];
    while (first.length < plan.concurrency) {
      const member = open(startedId);
      if (member === undefined) break;
      first.push(member);
    }
    await Promise.all(first.map(drive));
  } finally {
    release();
    for (const { active, lane } of started) if (active) leaveScope(lane.scope);
  }

  // Cut off from outside: what was running within stays known, for whoever records the end.
  if (outer.signal.aborted) throw new Interrupted();
  if (failed !== undefined) recordFailure(outer, started, failed);
  if (outer.current !== undefined) delete outer.current.inner;
  if (failed !== undefined) throw failed.error;
  return members.map((member) => outputOf(member)?.output ?? null);
}

function openMember(
  visit: Visit,
  plan: GroupPlan,
  index: number,
  previous: number,
  signal: AbortSignal,
): Member {
  const { lane: outer, execution } = visit;
  const resume = resumable(plan.node.members[index]);
  const lane: Lane = {
    execution,
    scope: innerScope(outer.scope, resume?.variables ?? {}),
    signal,
    previous,
    node: resume ?? { state: '', input: null, variables: {}, entered: 0, enteredTime: '' },
  };
  plan.node.members[index] = { lane: lane.node };
  const member: Member = { index, lane, active: true };
  if (resume !== undefined) member.resume = resume;
  if (plan.iteration !== undefined) {
    member.iteration = plan.iteration;
    if (resume === undefined) recordIteration('Started', lane, plan.iteration, index);
  }
  return member;
}

function recordIteration(what: 'Started' | 'Succeeded', lane: Lane, name: string, index: number): number {
  const key = `mapIteration${what}EventDetails` as const;
  lane.previous = lane.execution.history.record(`MapIteration${what}`, lane.previous, [key, { name, index }]);
  return lane.previous;
}

/** The events of a group that ends because one member did. All point at that member's last event. */
function recordFailure(outer: Lane, started: Member[], failed: { error: unknown; member: Member }): void {
  const { previous } = failed.member.lane;
  outer.previous = previous;
  if (!(failed.error instanceof StateError) || failed.error.fatal) return;
  for (const member of started) {
    if (member.active) recordEnd(member, previous, member === failed.member ? 'Failed' : 'Aborted');
  }
}

const ABORTABLE = new Set(['Task', 'Wait', 'Parallel', 'Map']);

function recordEnd(member: Member, previous: number, how: 'Failed' | 'Aborted'): void {
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
    if (inner.active) recordEnd(inner, previous, 'Aborted');
  }
}

function outputOf(member: MemberNode | undefined): { output: Json } | undefined {
  return member !== undefined && member !== null && 'output' in member ? member : undefined;
}

/** The lane of a member that had entered a state before. */
function resumable(member: MemberNode | undefined): LaneNode | undefined {
  if (member === undefined || member === null || !('lane' in member)) return undefined;
  return member.lane.entered > 0 ? member.lane : undefined;
}
