/** What a loop's body calls, known from the program. */
import type { LoopNode, StepNode, ToolCallNode } from '../../compile/program.ts';
import { listsOf, withDescendants } from '../program-index.ts';

const counted = new WeakMap<LoopNode, number>();

/** Calls of one iteration, those in inner loops not counted (they count their own). */
export function callsPerIteration(loop: LoopNode): number {
  let calls = counted.get(loop);
  if (calls === undefined) {
    calls = callsIn(loop.body);
    counted.set(loop, calls);
  }
  return calls;
}

function callsIn(list: readonly StepNode[]): number {
  let calls = 0;
  for (const node of list) {
    if (node.type === 'call') calls += 1;
    else if (node.type !== 'loop') for (const inner of listsOf(node)) calls += callsIn(inner);
  }
  return calls;
}

/** Every tool call in a loop, inner loops' too. */
export function toolCallsIn(loop: LoopNode): ToolCallNode[] {
  const calls: ToolCallNode[] = [];
  for (const node of withDescendants(loop))
    if (node.type === 'call' && node.call === 'tool') calls.push(node);
  return calls;
}

/** Whether one iteration may have made calls by the time that another of its calls fails: several steps, or an inner loop. */
export function callsRepeatedly(loop: LoopNode): boolean {
  if (toolCallsIn(loop).length > 1) return true;
  return [...withDescendants(loop)].some((node) => node.type === 'loop' && node !== loop);
}
