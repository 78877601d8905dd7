/** What can be said of a value before there is one: whether it can be null, and which types it can have. */
import { type Ast, isProjection, type PathStep } from './ast.ts';
import { functionSpec } from './functions.ts';
import { typeOf, type ValueType } from './values.ts';

/** What `@` stands for at a place. */
export interface Current {
  /** The scope itself: a bare name is a root. */
  isScope: boolean;
  mayBeNull: boolean;
}

export const SCOPE: Current = { isScope: true, mayBeNull: false };
/** An element of a list, or the value before a dot. That an element itself is null is not assumed. */
export const ELEMENT: Current = { isScope: false, mayBeNull: false };

/** Whether a path into the scope, root first, can be null; without knowledge every path can. */
export type NullKnowledge = (path: string[]) => boolean;

export function mayBeNull(node: Ast, current: Current, known: NullKnowledge): boolean {
  switch (node.type) {
    case 'literal':
      return node.value === null;
    case 'not':
    case 'reference':
      return false;
    case 'compare':
      return node.operator !== '==' && node.operator !== '!=';
    case 'or': {
      const last = node.operands.at(-1);
      return last !== undefined && mayBeNull(last, current, known);
    }
    case 'and':
      return node.operands.some((operand) => mayBeNull(operand, current, known));
    case 'pipe': {
      let value = current;
      for (const stage of node.stages) value = { isScope: false, mayBeNull: mayBeNull(stage, value, known) };
      return value.mayBeNull;
    }
    case 'path':
      return pathMayBeNull(node, current, known);
  }
}

function pathMayBeNull(node: Ast & { type: 'path' }, current: Current, known: NullKnowledge): boolean {
  const { start, steps } = node;
  let names: string[] | undefined;
  let before: boolean;
  if (start.type === 'root' || (start.type === 'current' && current.isScope)) {
    names = [];
    before = false;
  } else if (start.type === 'current') before = current.mayBeNull;
  else before = mayBeNull(start, current, known);

  // Asked only where it counts: a path of a thousand names would ask about each of its beginnings.
  let value = (): boolean => before;
  for (const step of steps) {
    if (step.type === 'field') {
      const path = names;
      path?.push(step.name);
      value = () => path === undefined || known(path);
      continue;
    }
    names = undefined;
    if (isProjection(step)) return value();
    if (step.type === 'index') value = () => true;
    else if (step.type === 'call') {
      const result = callMayBeNull(step, { isScope: false, mayBeNull: value() }, known);
      value = () => result;
    }
  }
  return value();
}

function callMayBeNull(call: PathStep & { type: 'call' }, current: Current, known: NullKnowledge): boolean {
  if (call.name === 'not_null') return call.args.every((arg) => mayBeNull(arg, current, known));
  const returns = functionSpec(call.name)?.returns ?? 'any';
  return returns === 'any' || returns.includes('null');
}

/** The types a value can have, or undefined where nothing is known. Null is left out: it has its own question. */
export function typesOf(node: Ast): readonly ValueType[] | undefined {
  switch (node.type) {
    case 'literal':
      return [typeOf(node.value)];
    case 'not':
    case 'compare':
      return ['boolean'];
    case 'path': {
      const projection = node.steps.findIndex(isProjection);
      if (projection >= 0) return ['array'];
      const last = node.steps.at(-1);
      if (last === undefined) return undefined;
      if (last.type === 'multi-list') return ['array'];
      if (last.type === 'multi-hash') return ['object'];
      if (last.type !== 'call') return undefined;
      const returns = functionSpec(last.name)?.returns;
      return returns === undefined || returns === 'any' ? undefined : returns;
    }
    case 'pipe': {
      const last = node.stages.at(-1);
      return last === undefined ? undefined : typesOf(last);
    }
    default:
      return undefined;
  }
}
