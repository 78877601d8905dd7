/**
 * Program → plan.
 *
 *     [call list] [loop pods, map, 100 items: [call describe]]
 *   → [{ shape: 'call', entry: 'list', onFailure: end-run }]
 *     [{ shape: 'map-loop', entry: 'pods items', distributed: false,
 *        body: [{ shape: 'call', entry: 'describe', onFailure: state 'pods end' }] }]
 *
 * Pure and deterministic: the same program gives the same plan, and neither program nor document is changed.
 */
import { MAX_PAYLOAD_BYTES } from '../../asl/limits.ts';
import { type Diagnostic, diagnostic } from '../../blueprint/diagnostics.ts';
import { LANE_CONCURRENCY } from '../../blueprint/limits.ts';
import type { BlueprintDocument } from '../../blueprint/types.ts';
import type { LoopNode, Program, StepNode } from '../program.ts';
import { planDistribution } from './distribute.ts';
import { type FailureTarget, planFailures } from './failures.ts';
import { enterOf, itemsOf, prepareOf } from './names.ts';
import { type CompileTarget, innerLists, type Plan, type PlannedStep } from './plan.ts';
import { itemLimit } from './worst-case.ts';

/** A map's input is one `0` and a comma an item. */
const BYTES_PER_ITEM = 2;

/**
 * Plans the machine of a program.
 * @param document what the program was parsed from, with its bindings (for the states' comments).
 * @param hash the document's hash; tasks name the document by it.
 * @returns a plan whose `diagnostics` say which limits cannot be kept; it is complete all the same.
 */
export function planMachine(
  program: Program,
  document: BlueprintDocument,
  hash: string,
  target: CompileTarget,
): Plan {
  const failures = planFailures(program);
  const inline = planList(program.steps, failures);
  const { distributed, diagnostics } = planDistribution(inline, {
    runSeconds: program.timeoutSeconds,
    functionSeconds: target.functionTimeoutSeconds,
  });
  const steps = inline.map((step) => withDistributed(step, distributed));
  return { program, document, hash, target, steps, diagnostics: [...diagnostics, ...tooManyItems(steps)] };
}

function planList(steps: readonly StepNode[], failures: ReadonlyMap<string, FailureTarget>): PlannedStep[] {
  return steps.map((step) => planStep(step, failures));
}

function planStep(node: StepNode, failures: ReadonlyMap<string, FailureTarget>): PlannedStep {
  const onFailure = failures.get(node.id);
  if (onFailure === undefined) throw new Error(`step "${node.id}" has no failure target`);
  const base = { id: node.id, onFailure, skippable: node.when !== undefined || node.reads.length > 0 };
  const enters = node.when !== undefined || node.timeoutMs !== undefined;
  switch (node.type) {
    case 'call':
      return node.call === 'workflow'
        ? { ...base, shape: 'sub-workflow', entry: prepareOf(node.id), node }
        : { ...base, shape: 'call', entry: node.id, node, waits: node.strategy.maxRetries > 0 };
    case 'loop':
      return planLoop(node, base, failures);
    case 'parallel':
      return {
        ...base,
        shape: 'parallel',
        entry: enters ? enterOf(node.id) : node.id,
        node,
        enters,
        branches: node.branches.map((branch) => planList(branch, failures)),
      };
    case 'pipe':
    case 'collect': {
      const steps = planList(node.steps, failures);
      const first = steps[0]?.entry ?? node.id;
      return { ...base, shape: 'chain', entry: enters ? enterOf(node.id) : first, node, enters, steps };
    }
  }
}

function planLoop(
  node: LoopNode,
  base: { id: string; onFailure: FailureTarget; skippable: boolean },
  failures: ReadonlyMap<string, FailureTarget>,
): PlannedStep {
  if (node.mode === 'map') {
    const body = planList(node.body, failures);
    return node.kind === 'while'
      ? { ...base, shape: 'while-loop', entry: node.id, node, body }
      : { ...base, shape: 'map-loop', entry: itemsOf(node.id), node, distributed: false, body };
  }
  // Passes of a while follow one another, whatever concurrency says.
  if (node.kind === 'while' || node.concurrency <= LANE_CONCURRENCY) {
    return { ...base, shape: 'batch-loop', entry: node.id, node };
  }
  const lanes = Math.ceil(node.concurrency / LANE_CONCURRENCY);
  return { ...base, shape: 'lanes', entry: itemsOf(node.id), node, lanes, distributed: false };
}

function withDistributed(step: PlannedStep, distributed: ReadonlySet<string>): PlannedStep {
  const inner = (list: readonly PlannedStep[]) => list.map((each) => withDistributed(each, distributed));
  switch (step.shape) {
    case 'call':
    case 'batch-loop':
    case 'sub-workflow':
      return step;
    case 'lanes':
      return { ...step, distributed: distributed.has(step.id) };
    case 'map-loop':
      return { ...step, distributed: distributed.has(step.id), body: inner(step.body) };
    case 'while-loop':
      return { ...step, body: inner(step.body) };
    case 'parallel':
      return { ...step, branches: step.branches.map(inner) };
    case 'chain':
      return { ...step, steps: inner(step.steps) };
  }
}

/** A map's items travel as its input, one constant an item: a payload holds 131,000 of them. */
function tooManyItems(steps: readonly PlannedStep[]): Diagnostic[] {
  return steps.flatMap((step) => {
    const inner = innerLists(step).flatMap(tooManyItems);
    const most = Math.floor((MAX_PAYLOAD_BYTES - 1024) / BYTES_PER_ITEM);
    if (step.shape !== 'map-loop' || itemLimit(step) <= most) return inner;
    const tooMany = diagnostic('BP903', `${step.node.pointer}/maxItems`, {
      message: `the loop "${step.id}" runs as a map of up to ${itemLimit(step)} items, and a map takes at most ${most}`,
      got: `${itemLimit(step)} items`,
      expected: `at most ${most}`,
      hint: 'lower "maxItems", or use mode "batch"',
    });
    return [tooMany, ...inner];
  });
}
