/**
 * Blueprint → program: the authored JSON made uniform, so that nothing after this asks again what a field's default is,
 * whether `do` is a list, or which strategy applies.
 *
 *     { "id": "pods", "type": "loop", "over": "{{ steps.list.items }}", "do": { "id": "get", ... } }
 *   → { id: 'pods', kind: 'over', over: Template, as: 'item', limit: 100000, body: [ToolCallNode], mode: 'batch',
 *       concurrency: 1, strategy: { onStepFailure: 'abort', maxRetries: 0, ... }, reads: ['list'], ... }
 *
 * It takes a valid blueprint (`validateBlueprint` decides that), is pure, and never changes what it is given.
 */
import type { Json } from '../blueprint/json.ts';
import {
  DEFAULT_BACKOFF_RATE,
  DEFAULT_MAX_DELAY_MS,
  DEFAULT_MAX_ITEMS,
  DEFAULT_RETRIES_OF_RETRY,
  DEFAULT_RETRY_DELAY_MS,
  DEFAULT_RUN_TIMEOUT_SECONDS,
} from '../blueprint/limits.ts';
import { splitToolName, splitWorkflowName } from '../blueprint/names.ts';
import type {
  Blueprint,
  CallStep,
  CollectStep,
  ErrorStrategy,
  LoopStep,
  ParallelStep,
  PipeStep,
  Step,
} from '../blueprint/types.ts';
import { stepReads } from '../expression/references.ts';
import { parseTemplate, type Template, templateExpressions } from '../expression/template.ts';
import type {
  CollectNode,
  LoopNode,
  ParallelNode,
  PipeNode,
  Program,
  StepNode,
  Strategy,
  ToolCallNode,
  WorkflowCallNode,
} from './program.ts';

const DEFAULT_STRATEGY: Strategy = {
  onStepFailure: 'abort',
  maxRetries: 0,
  retryDelayMs: DEFAULT_RETRY_DELAY_MS,
  backoffRate: DEFAULT_BACKOFF_RATE,
  maxDelayMs: DEFAULT_MAX_DELAY_MS,
  jitter: true,
  collectErrors: true,
};

/** What is collected while the tree is walked. */
interface Registry {
  byId: Map<string, StepNode>;
  ancestors: Map<string, readonly string[]>;
}

/** Where a step stands: what it inherits and what is around it. */
interface Place {
  pointer: string;
  strategy: Strategy;
  around: readonly string[];
}

/** The program of a valid blueprint. Its behaviour is undefined for one that `validateBlueprint` refuses. */
export function parseProgram(blueprint: Blueprint): Program {
  const strategy =
    blueprint.errorStrategy === undefined ? DEFAULT_STRATEGY : parseStrategy(blueprint.errorStrategy);
  const registry: Registry = { byId: new Map(), ancestors: new Map() };
  const steps = parseList(blueprint.steps, { pointer: '/steps', strategy, around: [] }, registry);
  const output = optionalTemplate(blueprint.output);
  return {
    id: blueprint.id,
    ...defined('description', blueprint.description),
    ...defined('version', blueprint.version),
    params: blueprint.params ?? {},
    strategy,
    timeoutSeconds: blueprint.timeoutSeconds ?? DEFAULT_RUN_TIMEOUT_SECONDS,
    steps,
    ...defined('output', output),
    outputUses: usesOf(output === undefined ? [] : [output]),
    byId: inDocumentOrder(registry),
    ancestors: registry.ancestors,
  };
}

/** `ancestors` is filled on the way down, `byId` on the way up: a container after what is inside it. */
function inDocumentOrder({ byId, ancestors }: Registry): Map<string, StepNode> {
  const ordered = new Map<string, StepNode>();
  for (const id of ancestors.keys()) {
    const node = byId.get(id);
    if (node !== undefined) ordered.set(id, node);
  }
  return ordered;
}

function parseList(steps: readonly Step[], place: Place, registry: Registry): StepNode[] {
  return steps.map((step, i) => parseStep(step, { ...place, pointer: `${place.pointer}/${i}` }, registry));
}

/** `do` and a branch are a step or a list of steps; a single one keeps its pointer without an index. */
function parseStepOrList(steps: Step | Step[], place: Place, registry: Registry): StepNode[] {
  return Array.isArray(steps) ? parseList(steps, place, registry) : [parseStep(steps, place, registry)];
}

function parseStep(step: Step, place: Place, registry: Registry): StepNode {
  const strategy = step.errorStrategy === undefined ? place.strategy : parseStrategy(step.errorStrategy);
  const inner: Place = { pointer: place.pointer, strategy, around: [...place.around, step.id] };
  registry.ancestors.set(step.id, place.around);
  const node = parseKind(step, inner, registry);
  registry.byId.set(step.id, node);
  return node;
}

function parseKind(step: Step, place: Place, registry: Registry): StepNode {
  switch (step.type) {
    case 'call':
      return parseCall(step, place);
    case 'loop':
      return parseLoop(step, place, registry);
    case 'parallel':
      return parseParallel(step, place, registry);
    case 'pipe':
      return parsePipe(step, place, registry);
    case 'collect':
      return parseCollect(step, place, registry);
  }
}

function parseCall(step: CallStep, place: Place): ToolCallNode | WorkflowCallNode {
  const params: Record<string, Template> = Object.fromEntries(
    Object.entries(step.params ?? {}).map(([name, value]) => [name, template(value)]),
  );
  const select = optionalTemplate(step.select);
  const base = parseBase(step, place, Object.values(params), select === undefined ? [] : [select]);
  if ('workflow' in step) {
    const { workflow, floating } = splitWorkflowName(step.workflow);
    return {
      ...base,
      type: 'call',
      call: 'workflow',
      workflow,
      floating,
      params,
      ...defined('select', select),
    };
  }
  const { server, tool } = splitToolName(step.tool);
  return {
    ...base,
    type: 'call',
    call: 'tool',
    ...defined('server', server),
    tool,
    params,
    ...defined('parse', step.parse),
    ...defined('select', select),
    retryUnknown: step.retryUnknown ?? false,
  };
}

function parseLoop(step: LoopStep, place: Place, registry: Registry): LoopNode {
  const over = optionalTemplate(step.over);
  const condition = optionalTemplate(step.while);
  const body = parseStepOrList(step.do, { ...place, pointer: `${place.pointer}/do` }, registry);
  const needsStates = body.some(needsMap);
  return {
    ...parseBase(step, place, over === undefined ? [] : [over], condition === undefined ? [] : [condition]),
    type: 'loop',
    kind: condition === undefined ? 'over' : 'while',
    ...defined('over', over),
    ...defined('while', condition),
    limit: (condition === undefined ? step.maxItems : step.max) ?? DEFAULT_MAX_ITEMS,
    as: step.as ?? 'item',
    body,
    concurrency: step.concurrency ?? 1,
    mode: needsStates ? 'map' : (step.mode ?? 'batch'),
  };
}

/** A sub-workflow needs a state of its own, and so does a loop whose items are states: so does any loop around them. */
function needsMap(node: StepNode): boolean {
  switch (node.type) {
    case 'call':
      return node.call === 'workflow';
    case 'loop':
      return node.mode === 'map';
    case 'parallel':
      return node.branches.some((branch) => branch.some(needsMap));
    case 'pipe':
    case 'collect':
      return node.steps.some(needsMap);
  }
}

function parseParallel(step: ParallelStep, place: Place, registry: Registry): ParallelNode {
  return {
    ...parseBase(step, place, [], []),
    type: 'parallel',
    branches: step.branches.map((branch, i) =>
      parseStepOrList(branch, { ...place, pointer: `${place.pointer}/branches/${i}` }, registry),
    ),
  };
}

function parsePipe(step: PipeStep, place: Place, registry: Registry): PipeNode {
  return {
    ...parseBase(step, place, [], []),
    type: 'pipe',
    steps: parseList(step.steps, { ...place, pointer: `${place.pointer}/steps` }, registry),
  };
}

function parseCollect(step: CollectStep, place: Place, registry: Registry): CollectNode {
  const select = optionalTemplate(step.select);
  return {
    ...parseBase(step, place, [], select === undefined ? [] : [select]),
    type: 'collect',
    steps: parseList(step.steps, { ...place, pointer: `${place.pointer}/steps` }, registry),
    ...defined('select', select),
  };
}

/** The fields every node has. `before` and `after` are the type's own templates, evaluated before and after it runs. */
function parseBase(step: Step, place: Place, before: Template[], after: Template[]) {
  const when = optionalTemplate(step.when);
  const failWhen = optionalTemplate(step.failWhen);
  const first = when === undefined ? before : [when, ...before];
  const last = failWhen === undefined ? after : [...after, failWhen];
  return {
    id: step.id,
    pointer: place.pointer,
    ...defined('description', step.description),
    ...defined('when', when),
    ...defined('failWhen', failWhen),
    strategy: place.strategy,
    ...defined('timeoutMs', step.timeoutSeconds === undefined ? undefined : step.timeoutSeconds * 1000),
    reads: usesOf(first).values,
    uses: usesOf([...first, ...last]),
  };
}

/** The ids that templates name under `steps` and under `results`, each once, in the order they are met. */
function usesOf(templates: readonly Template[]): { values: string[]; results: string[] } {
  const values = new Set<string>();
  const results = new Set<string>();
  for (const each of templates) {
    for (const { expression } of templateExpressions(each)) {
      for (const { root, id } of stepReads(expression)) {
        if (id !== null) (root === 'steps' ? values : results).add(id);
      }
    }
  }
  return { values: [...values], results: [...results] };
}

/** A strategy with its defaults. `retry` is `abort` with two retries unless it says how many. */
function parseStrategy(strategy: ErrorStrategy): Strategy {
  const retry = strategy.onStepFailure === 'retry';
  return {
    onStepFailure: strategy.onStepFailure === 'continue' ? 'continue' : 'abort',
    maxRetries: strategy.maxRetries ?? (retry ? DEFAULT_RETRIES_OF_RETRY : 0),
    retryDelayMs: strategy.retryDelayMs ?? DEFAULT_RETRY_DELAY_MS,
    backoffRate: strategy.backoffRate ?? DEFAULT_BACKOFF_RATE,
    maxDelayMs: strategy.maxDelayMs ?? DEFAULT_MAX_DELAY_MS,
    jitter: strategy.jitter ?? true,
    collectErrors: strategy.collectErrors ?? true,
  };
}

function template(value: Json): Template {
  return parseTemplate(value).template;
}

function optionalTemplate(value: Json | undefined): Template | undefined {
  return value === undefined ? undefined : template(value);
}

/** `{ name: value }`, or nothing where there is no value: an absent field stays absent. */
function defined<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]: V });
}
