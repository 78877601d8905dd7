/**
 * What a program's tree says about each step that running it needs again and again: what stands around a step, how many
 * loops, where its `input` comes from, and whose results anything reads. Computed once for a program.
 */
import type { LoopNode, Program, StepNode } from '../compile/program.ts';
import { references } from '../expression/references.ts';
import type { Template } from '../expression/template.ts';
import { templateExpressions } from '../expression/template.ts';

/** Where `{{ input }}` comes from: a step before in a pipe, the pass before in a while, or nothing. */
export type InputSource = { kind: 'step'; id: string } | { kind: 'pass'; loop: string } | { kind: 'none' };

export interface ProgramIndex {
  program: Program;
  /** The container around each step; absent at the top. */
  parents: ReadonlyMap<string, StepNode>;
  /** The loops around each step, outermost first. */
  loops: ReadonlyMap<string, readonly LoopNode[]>;
  inputs: ReadonlyMap<string, InputSource>;
  /** Ids whose `results.ID` any template reads: only their details are kept. */
  resultIds: ReadonlySet<string>;
  /** Ids of the steps with a template that reads `run.errors`, or `run` as a whole. */
  errorReaders: ReadonlySet<string>;
  /** True where the run's output does. */
  outputReadsErrors: boolean;
}

/** Indexes a program; pure. */
export function indexProgram(program: Program): ProgramIndex {
  const parents = new Map<string, StepNode>();
  const loops = new Map<string, readonly LoopNode[]>();
  const inputs = new Map<string, InputSource>();
  const resultIds = new Set<string>(program.outputUses.results);
  const errorReaders = new Set<string>();

  function visit(
    list: readonly StepNode[],
    parent: StepNode | undefined,
    around: readonly LoopNode[],
    input: InputSource,
  ): void {
    let before = input;
    for (const node of list) {
      if (parent !== undefined) parents.set(node.id, parent);
      loops.set(node.id, around);
      inputs.set(node.id, before);
      for (const id of node.uses.results) resultIds.add(id);
      if (templatesOf(node).some(readsErrors)) errorReaders.add(node.id);
      const inner = node.type === 'loop' ? [...around, node] : around;
      const first: InputSource =
        node.type === 'loop' && node.kind === 'while' ? { kind: 'pass', loop: node.id } : before;
      for (const each of listsOf(node)) visit(each, node, inner, first);
      if (parent?.type === 'pipe') before = { kind: 'step', id: node.id };
    }
  }
  visit(program.steps, undefined, [], { kind: 'none' });
  const outputReadsErrors = program.output !== undefined && readsErrors(program.output);
  return { program, parents, loops, inputs, resultIds, errorReaders, outputReadsErrors };
}

/** The lists of steps inside a step: none for a call. */
export function listsOf(node: StepNode): readonly (readonly StepNode[])[] {
  switch (node.type) {
    case 'call':
      return [];
    case 'loop':
      return [node.body];
    case 'parallel':
      return node.branches;
    case 'pipe':
    case 'collect':
      return [node.steps];
  }
}

/** A step and every step inside it. */
export function* withDescendants(node: StepNode): Generator<StepNode> {
  yield node;
  for (const list of listsOf(node)) {
    for (const each of list) yield* withDescendants(each);
  }
}

/** The containers around a step, innermost first. */
export function* containersAround(index: ProgramIndex, node: StepNode): Generator<StepNode> {
  for (let at = index.parents.get(node.id); at !== undefined; at = index.parents.get(at.id)) yield at;
}

/** Every template of a step itself. */
export function templatesOf(node: StepNode): Template[] {
  const own = [node.when, node.failWhen];
  if (node.type === 'call') own.push(...Object.values(node.params), node.select);
  if (node.type === 'loop') own.push(node.over, node.while);
  if (node.type === 'collect') own.push(node.select);
  return own.filter((each) => each !== undefined);
}

/** The last step of a list, whose value is the list's. A valid blueprint has no empty list. */
export function lastOf(list: readonly StepNode[]): StepNode {
  const last = list.at(-1);
  if (last === undefined) throw new Error('a list of steps is empty');
  return last;
}

function readsErrors(template: Template): boolean {
  return templateExpressions(template).some(({ expression }) =>
    references(expression).some(
      ({ root, path }) => root === 'run' && (path.length === 0 || path[0] === 'errors'),
    ),
  );
}

/** True where a pipe or a loop's item, rather than the step itself, decides what a failure of the step means. */
export function endsItsList(node: StepNode, parent: StepNode | undefined): boolean {
  return parent?.type === 'pipe' || parent?.type === 'loop' || node.strategy.onStepFailure === 'abort';
}
