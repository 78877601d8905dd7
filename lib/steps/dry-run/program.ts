/** A whole program of a dry run: its steps from the first, then its output. */
import type { StepError } from '../../blueprint/errors.ts';
import { StepFailure } from '../../blueprint/errors.ts';
import type { JsonObject } from '../../blueprint/json.ts';
import type { StepNode } from '../../compile/program.ts';
import type { ListOutcome } from '../container.ts';
import { stepErrorOf } from '../failure.ts';
import type { Frame } from '../frame.ts';
import { hasUnknown, type Resolved, resolvePartly, UNKNOWN } from './partial.ts';
import { type Place, scopeAt } from './place.ts';

export type WalkList = (
  place: Place,
  list: readonly StepNode[],
  parent: StepNode | undefined,
  frame: Frame,
) => Promise<ListOutcome>;

/** The output, or the error that ends the run before it. */
export type ProgramEnd = { output: Resolved } | { error: StepError };

export async function walkProgram(
  place: Place,
  run: { params: JsonObject; revision: number },
  walkList: WalkList,
): Promise<ProgramEnd> {
  const { index } = place.loaded;
  const { program } = index;
  const startedAt = new Date(place.dry.now()).toISOString();
  const frame: Frame = {
    index,
    at: '',
    base: {
      params: run.params,
      run: {
        // There is no run, so no template sees an id of one.
        id: UNKNOWN,
        workflow: program.id,
        revision: run.revision,
        trigger: 'call',
        startedAt,
        date: startedAt.slice(0, 10),
      },
      input: null,
    },
    outcomes: new Map(),
  };
  const end = await walkList(place, program.steps, undefined, frame);
  if ('error' in end) return { error: end.error };
  if (program.output === undefined) {
    const { value } = end.last;
    return { output: { value, shown: hasUnknown(value) ? null : value, unresolved: [] } };
  }
  try {
    const scope = scopeAt(place, frame, program.outputUses);
    return { output: resolvePartly(program.output, scope, 'output', 'output') };
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    return { error: stepErrorOf(error, { step: ' finish', path: '', attempts: 0 }) };
  }
}
