/**
 * What an expression reads of its scope, found without evaluating it.
 *
 * The tree is walked with a symbolic value in place of data: the scope itself, a path into it, or something unknown
 * (an element, a result). So `steps.pods.items`, `$.steps.pods` inside a filter and `steps | pods` are all seen, and a
 * field of an element is not taken for a root.
 */
import { type Ast, isProjection, type PathStart, type PathStep, stepChildren } from './ast.ts';
import type { Expression } from './expression.ts';

/** One read of the scope. */
export interface Reference {
  /** `params`, `steps`, a loop's name, ...; `$` where the whole scope is read. */
  root: string;
  /** The literal names that follow the root, up to the first access that is no field. */
  path: string[];
  /** Of the root's name in the expression, in UTF-16 units. */
  offset: number;
  /** Written with `$`. */
  viaRoot: boolean;
}

/** A value of the walk. A path that is only extended is not a read of its own. */
type Symbol =
  | { kind: 'scope'; viaRoot: boolean }
  | { kind: 'path'; path: SymbolicPath }
  | { kind: 'unknown' };

interface SymbolicPath {
  reference: Reference;
  extended: boolean;
  used: boolean;
}

const UNKNOWN: Symbol = { kind: 'unknown' };

/** Every read of the scope, in the order of the source. */
export function references(expression: Expression): Reference[] {
  const found: SymbolicPath[] = [];
  const walker = new Walker(found);
  walker.use(walker.node(expression.ast, { kind: 'scope', viaRoot: false }), expression.ast.offset);
  return found
    .filter((path) => path.used || !path.extended)
    .map((path) => path.reference)
    .sort((a, b) => a.offset - b.offset);
}

/**
 * The steps an expression reads, by `steps.ID` and `results.ID`. `id` is null where no literal id follows: `steps` by
 * itself, `steps.*`, `keys(results)`, and the whole scope.
 */
export function stepReads(
  expression: Expression,
): { root: 'steps' | 'results'; id: string | null; offset: number }[] {
  return references(expression).flatMap(({ root, path, offset }) => {
    if (root === '$') return [{ root: 'steps' as const, id: null, offset }];
    return root === 'steps' || root === 'results' ? [{ root, id: path[0] ?? null, offset }] : [];
  });
}

class Walker {
  readonly found: SymbolicPath[];

  constructor(found: SymbolicPath[]) {
    this.found = found;
  }

  /** The value goes somewhere: into a result, an argument, a condition. */
  use(value: Symbol, offset: number): void {
    if (value.kind === 'path') value.path.used = true;
    if (value.kind === 'scope') this.add({ root: '$', path: [], offset, viaRoot: value.viaRoot }).used = true;
  }

  node(node: Ast, current: Symbol): Symbol {
    switch (node.type) {
      case 'literal':
        return UNKNOWN;
      case 'path': {
        let value = this.start(node.start, current);
        for (const step of node.steps) value = this.step(step, value);
        return value;
      }
      case 'not':
        this.consume(node.operand, current);
        return UNKNOWN;
      case 'compare':
        this.consume(node.left, current);
        this.consume(node.right, current);
        return UNKNOWN;
      case 'and':
      case 'or':
        for (const operand of node.operands) this.consume(operand, current);
        return UNKNOWN;
      case 'pipe':
        return node.stages.reduce((value, stage) => this.node(stage, value), current);
      case 'reference':
        this.consume(node.expression, UNKNOWN);
        return UNKNOWN;
    }
  }

  private consume(node: Ast, current: Symbol): void {
    this.use(this.node(node, current), node.offset);
  }

  private start(start: PathStart, current: Symbol): Symbol {
    if (start.type === 'current') return current;
    if (start.type === 'root') return { kind: 'scope', viaRoot: true };
    return this.node(start, current);
  }

  private step(step: PathStep, value: Symbol): Symbol {
    if (step.type === 'field') return this.field(step.name, step.offset, value);
    if (step.type === 'multi-list' || step.type === 'multi-hash' || step.type === 'call') {
      for (const child of stepChildren(step)) this.consume(child, value);
      return UNKNOWN;
    }
    this.use(value, step.offset);
    if (isProjection(step)) for (const child of stepChildren(step)) this.consume(child, UNKNOWN);
    return UNKNOWN;
  }

  private field(name: string, offset: number, value: Symbol): Symbol {
    if (value.kind === 'scope') {
      return { kind: 'path', path: this.add({ root: name, path: [], offset, viaRoot: value.viaRoot }) };
    }
    if (value.kind === 'unknown') return UNKNOWN;
    value.path.extended = true;
    const { reference } = value.path;
    return { kind: 'path', path: this.add({ ...reference, path: [...reference.path, name] }) };
  }

  private add(reference: Reference): SymbolicPath {
    const path = { reference, extended: false, used: false };
    this.found.push(path);
    return path;
  }
}
