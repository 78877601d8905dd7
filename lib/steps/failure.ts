/**
 * Failures of steps: from what was thrown to the one shape, and what a failure means for the run.
 *
 * What leaves call-tool as an error is read by people who may not read the run (history, events, logs, metrics), so it is
 * only `Kind: our own sentence` with step, server, tool and attempts. The tool's own text stays in the record.
 */
import type { ErrorKind, StepError } from '../blueprint/errors.ts';
import { StepFailure } from '../blueprint/errors.ts';
import type { LoopNode, StepNode } from '../compile/program.ts';
import { cleanText } from '../downstream/clean-text.ts';
import { iterationsOf } from './occurrence.ts';
import { endsItsList, type ProgramIndex } from './program-index.ts';

/** What is known of the step when something is thrown in it. */
export interface FailurePlace {
  step: string;
  /** Full occurrence path. */
  path: string;
  /** Default: that of the innermost iteration in `path`. */
  index?: number;
  attempts: number;
  server?: string;
  tool?: string;
}

/** A StepFailure as the record has it. Anything else that is thrown is a fault of ours and is not caught here. */
export function stepErrorOf(failure: StepFailure, place: FailurePlace): StepError {
  const { detail } = failure;
  const path = detail.path ?? place.path;
  const index = detail.index ?? place.index ?? iterationsOf(path).at(-1)?.index;
  const server = detail.server ?? place.server;
  const tool = detail.tool ?? place.tool;
  return {
    step: detail.step ?? place.step,
    path,
    ...(index === undefined ? {} : { index }),
    kind: failure.kind,
    message: cleanText(failure.message),
    attempts: detail.attempts ?? place.attempts,
    ...(server === undefined ? {} : { server }),
    ...(tool === undefined ? {} : { tool }),
  };
}

/** What each kind means in our own words. Nothing from a value, an argument or a server stands in it. */
const SENTENCES: Record<ErrorKind, string> = {
  ToolError: 'the tool answered with an error',
  ToolTimeout: 'no answer came within the time limit',
  TransportError: 'the connection to the server failed before an answer came',
  ServerUnavailable: 'the server could not be reached, nothing was sent',
  OutcomeUnknown: 'it is not known whether the call was carried out',
  InvalidArguments: 'the arguments do not fit the tool',
  UnknownTool: 'no connected server offers the tool',
  ToolNotAllowed: 'the tool is not allowed, nothing was sent',
  TemplateError: 'a template could not be evaluated',
  ParseError: 'the result could not be read as the step asks',
  FailedCondition: 'failWhen became true',
  ResultTooLarge: 'a value is too large',
  LimitExceeded: 'a limit was reached',
  SubWorkflowFailed: 'the sub-workflow did not succeed',
  Cancelled: 'the run was stopped',
};

/** The failure that leaves call-tool: its `stack` is the one line that Lambda hands to the state machine. */
export function publicFailure(error: StepError): StepFailure {
  const where = error.server === undefined ? '' : ` (${error.server}/${error.tool ?? '?'})`;
  const tries =
    error.attempts === 0 ? '' : ` after ${error.attempts} attempt${error.attempts === 1 ? '' : 's'}`;
  // The path tells which item of a loop it was; it is made of ids and indexes.
  const place = error.path === '' ? error.step : error.path;
  const sentence = `step "${place}"${where}: ${SENTENCES[error.kind]}${tries}`;
  const failure = new StepFailure(error.kind, sentence, error);
  failure.stack = `${error.kind}: ${sentence}`;
  return failure;
}

/** An error of a plain name (`Busy`, `Duplicate`) with no stack, for conditions that the machine handles. */
export function namedError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  error.stack = `${name}: ${message}`;
  return error;
}

/**
 * What leaves call-tool for what was thrown in it. Errors made for the machine (the two above) pass; of any other only the
 * name does: its message and its stack can hold values and paths, and history, events and callers would show them.
 */
export function leavingError(error: unknown): Error {
  const name = error instanceof Error ? error.name : 'Error';
  if (error instanceof Error && error.stack === `${name}: ${error.message}`) return error;
  return namedError(name, 'an unexpected fault inside the engine; the log of call-tool tells more');
}

/**
 * True where a failure of this step ends the run at once: it and every container up to the top passes the failure on.
 * A parallel and a map loop settle first, so a failure inside one never ends the run by itself. The emitter leaves exactly
 * these tasks' errors uncaught.
 */
export function failureEndsRun(index: ProgramIndex, node: StepNode): boolean {
  const parent = index.parents.get(node.id);
  if (parent === undefined) return node.strategy.onStepFailure === 'abort';
  switch (parent.type) {
    case 'parallel':
      return false;
    case 'loop':
      // Under `continue` the loop has succeeded up to the pass that failed, also where its own failure would end the run.
      return (
        parent.kind === 'while' && parent.strategy.onStepFailure === 'abort' && failureEndsRun(index, parent)
      );
    case 'pipe':
    case 'collect':
      return endsItsList(node, parent) && failureEndsRun(index, parent);
    case 'call':
      throw new Error(`the call "${parent.id}" has steps in it`);
  }
}

/** The loop whose item this step's failure ends, if it ends one. */
export function loopEndedBy(index: ProgramIndex, node: StepNode): LoopNode | undefined {
  const parent = index.parents.get(node.id);
  if (parent === undefined || !endsItsList(node, parent)) return undefined;
  if (parent.type === 'loop') return parent;
  // A parallel settles first; its own failure is another one.
  return parent.type === 'parallel' ? undefined : loopEndedBy(index, parent);
}
