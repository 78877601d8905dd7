/** Runs a blueprint's machine in the interpreter against a scripted call-tool, in virtual time; and redrives it. */

import type { StateMachine } from '../../lib/asl/types.ts';
import type { Json } from '../../lib/blueprint/json.ts';
import type { Blueprint } from '../../lib/blueprint/types.ts';
import { parseProgram } from '../../lib/compile/parse.ts';
import type { BeginTask } from '../../lib/compile/protocol.ts';
import {
  type Execution,
  execute,
  functionError,
  redrive,
} from '../local/step-functions/interpreter/execute.ts';
import { CHILD_ARN, type Script, scriptedCallTool, type ToldTask } from './answer-tasks.ts';
import { compileBlueprint } from './compile-blueprint.ts';

export interface BlueprintRun extends Execution {
  told: ToldTask[];
  /** `op occurrence`, in order, without begin and finish. */
  steps: string[];
  /** Payload of ` begin`. */
  begin?: BeginTask;
  definition: StateMachine;
}

export interface RunOptions extends Omit<Script, 'program'> {
  input?: Json;
  /** The sub-workflows' machine; one that succeeds at once by default. */
  child?: StateMachine;
  /** An error that ` begin` fails with. */
  beginError?: string;
  /** Go on from this run, which failed. */
  redriven?: BlueprintRun;
}

export async function runBlueprint(blueprint: Blueprint, options: RunOptions = {}): Promise<BlueprintRun> {
  const program = parseProgram(blueprint);
  const { definition } = compileBlueprint(blueprint);
  const { handler, told } = scriptedCallTool({ program, ...options });
  let begin: BeginTask | undefined;
  const executeOptions = {
    input: options.input ?? {},
    functions: {
      'mwe-call-tool': (payload: Json, request: Parameters<typeof handler>[1]) => {
        const task = payload as unknown as BeginTask;
        if (task.op === 'begin') {
          begin = task;
          if (options.beginError !== undefined) throw functionError(options.beginError);
        }
        return handler(payload, request);
      },
    },
    machines: { [CHILD_ARN]: options.child ?? SUCCEEDING },
  };
  const execution =
    options.redriven === undefined
      ? await execute(definition, executeOptions)
      : await redrive(definition, options.redriven, executeOptions);
  const steps = told
    .filter(({ op }) => op !== 'begin' && op !== 'finish')
    .map(({ op, occurrence, lane }) => `${op} ${occurrence}${lane === undefined ? '' : `#${lane}`}`);
  const run: BlueprintRun = { ...execution, told, steps, definition };
  if (begin !== undefined) run.begin = begin;
  return run;
}

const SUCCEEDING: StateMachine = {
  QueryLanguage: 'JSONata',
  StartAt: 'done',
  States: { done: { Type: 'Succeed' } },
};

export const FAILING: StateMachine = {
  QueryLanguage: 'JSONata',
  StartAt: 'failed',
  States: { failed: { Type: 'Fail', Error: 'ToolError', Cause: 'it broke' } },
};
