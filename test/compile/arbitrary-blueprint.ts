/**
 * Random valid blueprints: every step type in every other, `when`, `failWhen`, strategies, time limits, references to
 * whatever a step may read. Made in two stages, so that shrinking works: a random tree of step shapes, then ids and
 * references given out in document order.
 */
import fc from 'fast-check';
import type { Json } from '../../lib/blueprint/json.ts';
import type { Blueprint, ErrorStrategy, Step } from '../../lib/blueprint/types.ts';

export interface BlueprintOptions {
  /** Tools that calls are made to. Default: `list`, `describe`. */
  tools?: string[];
  /** Sub-workflows that may be called, as `workflow` has them; none by default. */
  workflows?: string[];
  /** Nesting of containers. Default 3. */
  maxDepth?: number;
  /** Steps of the top list. Default 5. */
  maxSteps?: number;
  /** Items of a loop's literal `over`, and passes of a `while`. Default 4. */
  maxItems?: number;
  /** Whether steps have strategies, failWhen and time limits. Default true. */
  failing?: boolean;
}

interface StepShape {
  type: 'call' | 'workflow' | 'loop' | 'while' | 'parallel' | 'pipe' | 'collect';
  /** Numbers that choose among what there is by then: ids to read, tools. */
  pick: number;
  when: 'none' | 'read' | 'true' | 'false';
  fails: boolean;
  limited: boolean;
  strategy: ErrorStrategy | undefined;
  concurrency: number;
  size: number;
  mode: 'batch' | 'map' | undefined;
  inner: StepShape[][];
}

/** A random valid blueprint. */
export function arbitraryBlueprint(options: BlueprintOptions = {}): fc.Arbitrary<Blueprint> {
  const { maxDepth = 3, maxSteps = 5, failing = true } = options;
  return fc
    .record({
      steps: fc.array(stepShape(maxDepth, options), { minLength: 1, maxLength: maxSteps }),
      strategy: failing ? fc.option(strategy, { nil: undefined }) : fc.constant(undefined),
      timeoutSeconds: fc.option(fc.integer({ min: 60, max: 86_400 }), { nil: undefined }),
    })
    .map((shape) => {
      const writer = new Writer(options);
      const steps = writer.list(shape.steps, []).steps;
      const blueprint: Blueprint = { id: 'random', params: { n: { type: 'integer', default: 2 } }, steps };
      if (shape.strategy !== undefined) blueprint.errorStrategy = shape.strategy;
      if (shape.timeoutSeconds !== undefined) blueprint.timeoutSeconds = shape.timeoutSeconds;
      return blueprint;
    });
}

const strategy: fc.Arbitrary<ErrorStrategy> = fc.record(
  {
    onStepFailure: fc.constantFrom('abort', 'continue', 'retry'),
    maxRetries: fc.integer({ min: 0, max: 3 }),
    retryDelayMs: fc.constantFrom(0, 1000),
  },
  { requiredKeys: [] },
);

function stepShape(depth: number, options: BlueprintOptions): fc.Arbitrary<StepShape> {
  const { failing = true, maxItems = 4, workflows = [] } = options;
  const leaves: StepShape['type'][] = workflows.length > 0 ? ['call', 'call', 'workflow'] : ['call'];
  const containers: StepShape['type'][] = ['loop', 'loop', 'while', 'parallel', 'pipe', 'collect'];
  const inner =
    depth === 0
      ? fc.constant<StepShape[][]>([])
      : fc.array(fc.array(stepShape(depth - 1, options), { minLength: 1, maxLength: 3 }), {
          minLength: 1,
          maxLength: 3,
        });
  return fc.record({
    type: fc.constantFrom(...(depth === 0 ? leaves : [...leaves, ...leaves, ...containers])),
    pick: fc.nat({ max: 997 }),
    when: fc.constantFrom<StepShape['when']>('none', 'none', 'none', 'read', 'true', 'false'),
    fails: failing ? fc.boolean() : fc.constant(false),
    limited: failing ? fc.boolean() : fc.constant(false),
    strategy: failing ? fc.option(strategy, { nil: undefined }) : fc.constant(undefined),
    concurrency: fc.constantFrom(1, 2, 10, 11, 25, 41),
    size: fc.integer({ min: 1, max: maxItems }),
    mode: fc.constantFrom('map', 'batch', undefined),
    inner,
  });
}

/** Gives out ids and references. `readable` is what a step may read at its place, nearest last. */
class Writer {
  private readonly options: BlueprintOptions;
  private count = 0;

  constructor(options: BlueprintOptions) {
    this.options = options;
  }

  /** The steps, and the ids that those after the list may read. */
  list(shapes: readonly StepShape[], readable: readonly string[]): { steps: Step[]; ids: string[] } {
    const steps: Step[] = [];
    const ids: string[] = [];
    for (const shape of shapes) {
      const written = this.step(shape, [...readable, ...ids]);
      steps.push(written.step);
      ids.push(...written.ids);
    }
    return { steps, ids };
  }

  private step(shape: StepShape, readable: readonly string[]): { step: Step; ids: string[] } {
    this.count += 1;
    const id = `s${this.count}`;
    const { step, inner } = this.body(id, shape, readable);
    const read = choose(readable, shape.pick);
    if (shape.when === 'read' && read !== undefined) step.when = `{{ steps.${read} || \`true\` }}`;
    if (shape.when === 'true') step.when = true;
    if (shape.when === 'false') step.when = false;
    if (shape.fails) step.failWhen = `{{ output == 'bad-${shape.pick}' }}`;
    if (shape.limited) step.timeoutSeconds = 600;
    if (shape.strategy !== undefined) step.errorStrategy = shape.strategy;
    return { step, ids: [...inner, id] };
  }

  private body(id: string, shape: StepShape, readable: readonly string[]): { step: Step; inner: string[] } {
    switch (shape.type) {
      case 'call': {
        const tool = choose(this.options.tools ?? ['list', 'describe'], shape.pick) ?? 'list';
        return { step: { id, type: 'call', tool, params: this.params(shape, readable) }, inner: [] };
      }
      case 'workflow': {
        const workflow = choose(this.options.workflows ?? [], shape.pick) ?? 'child';
        return { step: { id, type: 'call', workflow, params: {} }, inner: [] };
      }
      case 'loop': {
        const { steps } = this.list(shape.inner[0] ?? [], readable);
        const over: Json = Array.from({ length: shape.size }, (_, i) => i);
        const step: Step = { id, type: 'loop', over, as: `item-${id}`, do: steps };
        step.concurrency = shape.concurrency;
        if (shape.mode !== undefined) step.mode = shape.mode;
        return { step, inner: [] };
      }
      case 'while': {
        const { steps } = this.list(shape.inner[0] ?? [], readable);
        const step: Step = { id, type: 'loop', while: '{{ output.more }}', max: shape.size, do: steps };
        if (shape.mode !== undefined) step.mode = shape.mode;
        return { step, inner: [] };
      }
      case 'parallel': {
        const branches = shape.inner.map((branch) => this.list(branch, readable));
        return {
          step: { id, type: 'parallel', branches: branches.map(({ steps }) => steps) },
          inner: branches.flatMap(({ ids }) => ids),
        };
      }
      case 'pipe':
      case 'collect': {
        const { steps, ids } = this.list(shape.inner[0] ?? [], readable);
        return { step: { id, type: shape.type, steps }, inner: ids };
      }
    }
  }

  private params(shape: StepShape, readable: readonly string[]): Record<string, Json> {
    const read = choose(readable, shape.pick);
    const params: Record<string, Json> = { n: '{{ params.n }}' };
    if (read !== undefined && shape.pick % 2 === 0) params.before = `{{ steps.${read} }}`;
    if (read !== undefined && shape.pick % 3 === 0) params.status = `{{ results.${read}.status }}`;
    return params;
  }
}

function choose<T>(from: readonly T[], pick: number): T | undefined {
  return from.length === 0 ? undefined : from[pick % from.length];
}
