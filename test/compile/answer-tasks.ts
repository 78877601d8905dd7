/**
 * A call-tool that only speaks the protocol: it answers what a compiled machine may hear, so that the machine's own flow
 * can be run in the interpreter without servers and stores. What real steps answer is tested in test/steps.
 */
import type { Json } from '../../lib/blueprint/json.ts';
import type { Program } from '../../lib/compile/program.ts';
import type { StepTask, Task, TaskAnswer } from '../../lib/compile/protocol.ts';
import { functionError, type Handler } from '../local/step-functions/interpreter/execute.ts';

export const CHILD_ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:mwe-child';

export interface Script {
  program: Program;
  /** Sizes of loops: items, passes. A literal `over` has its own. */
  sizes?: Record<string, number>;
  /** An answer, or an error name to fail with, for a task; nothing: it succeeds at once. */
  answer?(task: StepTask, occurrence: string): Partial<TaskAnswer> | string | undefined;
}

export interface ToldTask {
  op: Task['op'];
  /** `at` + step. */
  occurrence: string;
  epoch: number;
  lane?: number;
}

/** The function, and what it was told, in order. */
export function scriptedCallTool(script: Script): { handler: Handler; told: ToldTask[] } {
  const told: ToldTask[] = [];
  const handler: Handler = (payload) => {
    const task = payload as unknown as Task;
    if (task.op === 'begin') {
      told.push({ op: 'begin', occurrence: '', epoch: task.epoch });
      return { status: 'done', ms: 1, run: 'run-1' };
    }
    const occurrence = task.at + task.step;
    const entry: ToldTask = { op: task.op, occurrence, epoch: task.epoch };
    if (task.op === 'lane') entry.lane = task.lane;
    told.push(entry);
    const scripted = script.answer?.(task, occurrence);
    if (typeof scripted === 'string') throw functionError(scripted);
    const answer: TaskAnswer = { status: 'done', ms: 1, ...successOf(task, script), ...scripted };
    return answer as unknown as Json;
  };
  return { handler, told };
}

function successOf(task: StepTask, { program, sizes = {} }: Script): Partial<TaskAnswer> {
  switch (task.op) {
    case 'items': {
      const node = program.byId.get(task.step);
      const over = node?.type === 'loop' ? node.over : undefined;
      const literal = over?.kind === 'literal' && Array.isArray(over.value) ? over.value.length : undefined;
      return { count: sizes[task.step] ?? literal ?? 0 };
    }
    case 'pass':
      return passOf(task.at, task.step, sizes[task.step] ?? 0);
    case 'prepare': {
      const name = `run-${task.at}${task.step}-${task.epoch}`.replaceAll('/', '-');
      return { child: { stateMachineArn: CHILD_ARN, name, input: { run: name } } };
    }
    default:
      return {};
  }
}

/** The pass after the one that `at` stands in, while there is one. */
function passOf(at: string, loop: string, passes: number): Partial<TaskAnswer> {
  const inside = at.match(new RegExp(`^(.*/)?${loop}/(\\d+)/$`));
  const outer = inside === null ? at : (inside[1] ?? '');
  const pass = inside === null ? 0 : Number(inside[2]) + 1;
  if (pass >= passes) return { status: 'done', at: outer };
  return { status: 'pass', at: `${outer}${loop}/${String(pass).padStart(5, '0')}/` };
}
