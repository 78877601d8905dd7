/**
 * Walks a program without running it. The rules for skipping, failing and values are those of a run and the same code
 * (frame.ts, container.ts); what differs is that an outcome may be open, and that loops are walked for a few items only.
 */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json } from '../../blueprint/json.ts';
import type { CollectNode, LoopNode, ParallelNode, PipeNode, StepNode } from '../../compile/program.ts';
import { cleanText } from '../../downstream/clean-text.ts';
import { truthy } from '../../expression/values.ts';
import type { ItemResult } from '../../store/records.ts';
import { containerOutcome, type ListOutcome } from '../container.ts';
import type { DryRunStep } from '../explore-protocol.ts';
import { stepErrorOf } from '../failure.ts';
import { type Frame, type Outcome, outcomeOf, skippedBy } from '../frame.ts';
import { evaluateItems } from '../loop/evaluate-items.ts';
import { loopOutcome } from '../loop/outcome.ts';
import { goesOn } from '../loop/passes.ts';
import { endsItsList, lastOf } from '../program-index.ts';
import { failedItem, itemFrame } from '../walk/progress.ts';
import { type CallTrace, dryCall, failureDetail, shapeValue } from './call.ts';
import { resolvePartly, UNKNOWN } from './partial.ts';
import { openOutcome, type Place, scopeAt } from './place.ts';
import { drySubWorkflow } from './sub-workflow.ts';

/** Items of a loop, and passes of a `while`, that are walked. */
const WALKED_ITEMS = 3;

/** Walks a list until a failure ends it. `parent` is undefined at the top. */
export async function walkList(
  place: Place,
  list: readonly StepNode[],
  parent: StepNode | undefined,
  frame: Frame,
): Promise<ListOutcome> {
  let at = frame;
  for (const node of list) {
    const outcome = await walkStep(place, node, at);
    frame.outcomes.set(node.id, outcome);
    if (outcome.status === 'failed' && outcome.error !== undefined && endsItsList(node, parent)) {
      return { error: outcome.error };
    }
    if (parent?.type === 'pipe') at = { ...frame, base: { ...frame.base, input: outcome.value } };
  }
  return { last: outcomeOf(frame, lastOf(list).id) };
}

async function walkStep(place: Place, node: StepNode, frame: Frame): Promise<Outcome> {
  const entry: DryRunStep = { at: place.prefix + frame.at + node.id, status: 'walked' };
  if (node.type === 'call') {
    if (node.call === 'workflow') entry.workflow = node.workflow;
    else entry.tool = node.server === undefined ? node.tool : `${node.server}/${node.tool}`;
  }
  const trace: CallTrace = { entry };
  const skip = (reason: string): Outcome => {
    place.dry.list.add({ ...entry, status: 'skipped', reason });
    return { status: 'skipped', reason, value: null, attempts: 0, ms: 0 };
  };
  const because = skippedBy(frame, node);
  if (because !== undefined) return skip(because);
  let doubtful = place.hypothetical;
  try {
    const when =
      node.when === undefined
        ? undefined
        : resolvePartly(node.when, scopeAt(place, frame, node.uses), node.id, 'when');
    const condition = when?.unresolved ?? [];
    if (when !== undefined && condition.length === 0 && !truthy(when.value)) return skip('when');
    doubtful ||= condition.length > 0;
    return await walkKind(place, node, frame, condition, trace);
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const outcome = failed(place, node, frame, error, trace);
    // It would fail if a run came here, which is not known.
    return doubtful ? openOutcome(place.dry) : outcome;
  }
}

async function walkKind(
  outer: Place,
  node: StepNode,
  frame: Frame,
  condition: readonly string[],
  trace: CallTrace,
): Promise<Outcome> {
  if (node.type === 'call' && node.call === 'tool') return dryCall(outer, node, frame, condition, trace);
  const place = condition.length === 0 ? outer : { ...outer, hypothetical: true };
  const opened = place.dry.opened;
  if (condition.length > 0) trace.entry.unresolved = [...condition];
  let outcome: Outcome;
  if (node.type === 'call') outcome = await drySubWorkflow(place, node, frame, trace, walkList);
  else if (node.type === 'loop') outcome = await walkLoop(place, node, frame, trace);
  else outcome = await walkContainer(place, node, frame, trace);
  if (condition.length > 0) return openOutcome(place.dry);
  if (outcome.status === 'failed' || place.dry.opened === opened) return outcome;
  return place.dry.open.has(outcome) ? outcome : openOutcome(place.dry, outcome.value);
}

/** A failure is listed where it happens; a container that passes one on is not listed again. */
function failed(place: Place, node: StepNode, frame: Frame, failure: StepFailure, trace: CallTrace): Outcome {
  const { index } = frame.base;
  const error = stepErrorOf(failure, {
    step: node.id,
    path: frame.at + node.id,
    attempts: trace.entry.status === 'called' ? 1 : 0,
    ...(typeof index === 'number' ? { index } : {}),
  });
  const told = { status: 'failed' as const, error: { kind: error.kind, message: cleanText(error.message) } };
  if (trace.listed === undefined) place.dry.list.add({ ...trace.entry, ...told });
  else Object.assign(trace.listed, told);
  if (node.strategy.collectErrors) place.errors.push(error);
  const detail = failureDetail(failure);
  return {
    status: 'failed',
    error,
    value: null,
    attempts: error.attempts,
    ms: 0,
    ...(detail === undefined ? {} : { detail }),
  };
}

async function walkContainer(
  place: Place,
  node: ParallelNode | PipeNode | CollectNode,
  frame: Frame,
  trace: CallTrace,
): Promise<Outcome> {
  if (trace.entry.unresolved !== undefined) trace.listed = place.dry.list.add(trace.entry);
  const lists = node.type === 'parallel' ? node.branches : [node.steps];
  for (const list of lists) await walkList(place, list, node, frame);
  return shaped(place, node, frame, containerOutcome(frame, node));
}

function shaped(
  place: Place,
  node: LoopNode | ParallelNode | PipeNode | CollectNode,
  frame: Frame,
  outcome: Outcome,
): Outcome {
  if (outcome.status !== 'succeeded') return outcome;
  const { value, unresolved } = shapeValue(place, node, frame, outcome.value);
  return unresolved.length > 0 ? openOutcome(place.dry, value) : { ...outcome, value };
}

async function walkLoop(place: Place, node: LoopNode, frame: Frame, trace: CallTrace): Promise<Outcome> {
  if (node.kind === 'while') return walkPasses(place, node, frame, trace);
  const scope = scopeAt(place, frame, node.uses);
  const over = node.over === undefined ? undefined : resolvePartly(node.over, scope, node.id, 'over');
  if (over !== undefined && over.unresolved.length > 0) {
    const unresolved = [...new Set([...(trace.entry.unresolved ?? []), ...over.unresolved])];
    trace.listed = place.dry.list.add({ ...trace.entry, unresolved });
    const item: Frame = {
      ...itemFrame(frame, node, 0, { [node.as]: UNKNOWN }),
      at: `${frame.at}${node.id}/*/`,
    };
    item.base.index = UNKNOWN;
    await walkList({ ...place, hypothetical: true }, node.body, node, item);
    return openOutcome(place.dry);
  }
  const items = evaluateItems(node, scope);
  const walked = Math.min(items.length, WALKED_ITEMS);
  trace.listed = place.dry.list.add({ ...trace.entry, count: items.length, walked });
  const results: ItemResult[] = [];
  for (const [index, item] of items.slice(0, walked).entries()) {
    const result = await walkItem(place, node, itemFrame(frame, node, index, { [node.as]: item }), item);
    results.push(result);
    if (result.status === 'failed' && node.strategy.onStepFailure === 'abort') break;
  }
  const outcome = loopOutcome(place.loaded.index, node, results);
  if (outcome.status === 'failed') return outcome;
  // The items that were not walked are not known, and so neither is the array.
  if (items.length > walked) return openOutcome(place.dry);
  return shaped(place, node, frame, outcome);
}

async function walkPasses(place: Place, node: LoopNode, frame: Frame, trace: CallTrace): Promise<Outcome> {
  trace.listed = place.dry.list.add({ ...trace.entry, walked: 0 });
  const results: ItemResult[] = [];
  let input: Json = null;
  for (let pass = 0; pass < WALKED_ITEMS; pass += 1) {
    const result = await walkItem(place, node, itemFrame(frame, node, pass, { input }), null);
    results.push(result);
    if (trace.listed !== undefined) trace.listed.walked = pass + 1;
    const scope = scopeAt(place, frame, node.uses, { output: result.value, index: pass });
    const again =
      node.while === undefined || result.status === 'failed'
        ? undefined
        : resolvePartly(node.while, scope, node.id, 'while');
    if (again !== undefined && again.unresolved.length > 0) return openOutcome(place.dry);
    const seen = { ...frame, base: { ...frame.base, run: scope.run ?? null } };
    if (!goesOn(node, seen, result)) {
      const outcome = loopOutcome(place.loaded.index, node, results);
      return shaped(place, node, frame, outcome);
    }
    input = result.value;
  }
  return openOutcome(place.dry);
}

async function walkItem(place: Place, node: LoopNode, frame: Frame, item: Json): Promise<ItemResult> {
  const index = frame.base.index as number;
  const end = await walkList(place, node.body, node, frame);
  if ('error' in end) return failedItem(index, item, end.error, end.error.attempts);
  const { status, value } = end.last;
  return {
    index,
    item,
    status: status === 'skipped' ? 'skipped' : 'succeeded',
    value,
    error: null,
    attempts: 0,
  };
}
