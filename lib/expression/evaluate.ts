/**
 * Syntax tree to a function that evaluates it.
 *
 * A tree is compiled once into closures, a node each. What depends on the scope alone (`$...` in a filter) is evaluated
 * once an evaluation, not once an element, so a list can be joined with another by key in linear time. Results share
 * what they do not change with the scope: callers must not mutate them. Nothing here mutates the scope.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import { dependsOnScopeOnly, isWorkOverLists, repeats } from './analysis.ts';
import { type Ast, type Comparator, type FunctionCall, isProjection, type PathStep } from './ast.ts';
import type { Budget } from './budget.ts';
import { EvaluationError } from './errors.ts';
import { type Argument, callFunction, describeArity, fitsArity, functionSpec } from './functions.ts';
import { compareStrings, equal, fieldOf, setField, truthy } from './values.ts';

/** One evaluation under way. */
export interface Evaluation {
  readonly scope: Json;
  readonly budget: Budget;
  /** Values of what depends on the scope alone, by slot. */
  readonly once: (Json | undefined)[];
}

export type Evaluator = (current: Json, evaluation: Evaluation) => Json;

export interface Compiled {
  run: Evaluator;
  /** The result may hold parts of the scope more than once, so that written down it can be larger than both. */
  repeats: boolean;
}

/** What compiling one expression carries along. */
interface Compiler {
  slots: number;
  /** Inside something that runs once an element. */
  repeated: boolean;
}

export function compileAst(ast: Ast): Compiled {
  const compiler: Compiler = { slots: 0, repeated: false };
  return { run: compileNode(ast, compiler), repeats: repeats(ast, false) };
}

function compileNode(node: Ast, compiler: Compiler): Evaluator {
  if (compiler.repeated && dependsOnScopeOnly(node) && isWorkOverLists(node))
    return compileOnce(node, compiler);
  switch (node.type) {
    case 'literal':
      return () => node.value;
    case 'path':
      return compilePath(node, compiler);
    case 'not': {
      const operand = compileNode(node.operand, compiler);
      return (current, evaluation) => {
        const mark = evaluation.budget.mark();
        const truth = truthy(operand(current, evaluation));
        evaluation.budget.release(mark);
        return !truth;
      };
    }
    case 'compare':
      return compileComparison(node, compiler);
    case 'and':
      return compileChoice(node.operands, (value) => !truthy(value), compiler);
    case 'or':
      return compileChoice(node.operands, truthy, compiler);
    case 'pipe': {
      const stages = node.stages.map((stage) => compileNode(stage, compiler));
      return (current, evaluation) => {
        const mark = evaluation.budget.mark();
        let value = current;
        for (const stage of stages) value = stage(value, evaluation);
        return settle(value, mark, evaluation.budget);
      };
    }
    case 'reference':
      throw new Error('the parser takes & only as an argument');
  }
}

/** A scalar holds nothing of what was built to come to it. */
function settle(value: Json, mark: number, budget: Budget): Json {
  if (value === null || typeof value !== 'object') {
    budget.release(mark);
    if (typeof value === 'string') budget.spend(value.length);
  }
  return value;
}

function compileOnce(node: Ast, compiler: Compiler): Evaluator {
  const slot = compiler.slots++;
  const evaluate = compileNode(node, { ...compiler, repeated: false, slots: 0 });
  return (_current, evaluation) => {
    const known = evaluation.once[slot];
    if (known !== undefined) return known;
    const mark = evaluation.budget.mark();
    const value = evaluate(null, { ...evaluation, once: [] });
    evaluation.budget.keep(mark);
    evaluation.once[slot] = value;
    return value;
  };
}

function compileChoice(operands: Ast[], decides: (value: Json) => boolean, compiler: Compiler): Evaluator {
  const evaluators = operands.map((operand) => compileNode(operand, compiler));
  return (current, evaluation) => {
    let value: Json = null;
    for (const evaluate of evaluators) {
      value = evaluate(current, evaluation);
      if (decides(value)) break;
    }
    return value;
  };
}

function compileComparison(node: Ast & { type: 'compare' }, compiler: Compiler): Evaluator {
  const left = compileNode(node.left, compiler);
  const right = compileNode(node.right, compiler);
  const { operator } = node;
  return (current, evaluation) => {
    const mark = evaluation.budget.mark();
    const a = left(current, evaluation);
    const b = right(current, evaluation);
    const result = compare(operator, a, b, evaluation.budget);
    evaluation.budget.release(mark);
    return result;
  };
}

/** Order is defined for two numbers and, as in JMESPath's reference implementation, for two strings; else null. */
function compare(operator: Comparator, a: Json, b: Json, budget: Budget): boolean | null {
  if (operator === '==') return equal(a, b, budget);
  if (operator === '!=') return !equal(a, b, budget);
  let order: number;
  if (typeof a === 'number' && typeof b === 'number') order = a - b;
  else if (typeof a === 'string' && typeof b === 'string') order = compareStrings(a, b);
  else return null;
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

function compilePath(node: Ast & { type: 'path' }, compiler: Compiler): Evaluator {
  const steps = compileSteps(node.steps, 0, compiler);
  const { start } = node;
  if (start.type === 'current') return steps ?? ((current) => current);
  if (start.type === 'root') {
    if (steps === undefined) return (_current, evaluation) => evaluation.scope;
    return (_current, evaluation) => steps(evaluation.scope, evaluation);
  }
  const first = compileNode(start, compiler);
  if (steps === undefined) return first;
  return (current, evaluation) => steps(first(current, evaluation), evaluation);
}

/** The accesses from index `from` on; undefined where there are none. */
function compileSteps(steps: PathStep[], from: number, compiler: Compiler): Evaluator | undefined {
  const step = steps[from];
  if (step === undefined) return undefined;
  if (step.type === 'field') return compileFields(steps, from, compiler);
  if (isProjection(step)) {
    const inner: Compiler = compiler;
    const before = inner.repeated;
    inner.repeated = true;
    const evaluator = compileProjection(step, compileSteps(steps, from + 1, inner), inner);
    inner.repeated = before;
    return evaluator;
  }
  const access = compileAccess(step, compiler);
  const rest = compileSteps(steps, from + 1, compiler);
  if (rest === undefined) return access;
  return (value, evaluation) => rest(access(value, evaluation), evaluation);
}

function compileFields(steps: PathStep[], from: number, compiler: Compiler): Evaluator {
  const names: string[] = [];
  let end = from;
  for (let step = steps[end]; step?.type === 'field'; step = steps[++end]) names.push(step.name);
  const rest = compileSteps(steps, end, compiler);
  const [name = ''] = names;
  if (names.length === 1) {
    if (rest === undefined) return (value) => fieldOf(value, name);
    return (value, evaluation) => rest(fieldOf(value, name), evaluation);
  }
  return (value, evaluation) => {
    let field = value;
    for (const each of names) field = fieldOf(field, each);
    return rest === undefined ? field : rest(field, evaluation);
  };
}

function compileAccess(step: PathStep, compiler: Compiler): Evaluator {
  switch (step.type) {
    case 'index': {
      const { index } = step;
      return (value) =>
        Array.isArray(value) ? (value[index < 0 ? value.length + index : index] ?? null) : null;
    }
    case 'multi-list': {
      const items = step.items.map((item) => compileNode(item, compiler));
      return (value, evaluation) => {
        if (value === null) return null;
        evaluation.budget.spend(16 + 8 * items.length);
        return items.map((item) => item(value, evaluation));
      };
    }
    case 'multi-hash': {
      const entries = step.entries.map((entry) => [entry.key, compileNode(entry.value, compiler)] as const);
      const bytes = step.entries.reduce((sum, entry) => sum + 8 + entry.key.length, 16);
      return (value, evaluation) => {
        if (value === null) return null;
        evaluation.budget.spend(bytes);
        const object: JsonObject = {};
        for (const [key, evaluate] of entries) setField(object, key, evaluate(value, evaluation));
        return object;
      };
    }
    case 'call':
      return compileCall(step, compiler);
    default:
      throw new Error(`${step.type} is no single access`);
  }
}

function compileProjection(step: PathStep, rest: Evaluator | undefined, compiler: Compiler): Evaluator {
  switch (step.type) {
    case 'list-wildcard':
      return (value, evaluation) => (Array.isArray(value) ? project(value, rest, evaluation) : null);
    case 'object-wildcard':
      return (value, evaluation) => {
        if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
        return project(Object.values(value), rest, evaluation);
      };
    case 'flatten':
      return (value, evaluation) => (Array.isArray(value) ? flatten(value, rest, evaluation) : null);
    case 'slice': {
      const { start, stop, step: stride } = step;
      return (value, evaluation) => {
        if (!Array.isArray(value)) return null;
        return project(slice(value, start, stop, stride, evaluation.budget), rest, evaluation);
      };
    }
    case 'filter': {
      const condition = compileNode(step.condition, compiler);
      return (value, evaluation) => {
        if (!Array.isArray(value)) return null;
        const { budget } = evaluation;
        budget.visit(value.length);
        budget.spend(16);
        const out: Json[] = [];
        for (const element of value) {
          const mark = budget.mark();
          const kept = truthy(condition(element, evaluation));
          budget.release(mark);
          if (kept) append(out, element, rest, evaluation);
        }
        return out;
      };
    }
    default:
      throw new Error(`${step.type} is no projection`);
  }
}

function append(out: Json[], element: Json, rest: Evaluator | undefined, evaluation: Evaluation): void {
  const value = rest === undefined ? element : rest(element, evaluation);
  if (value === null || value === undefined) return;
  evaluation.budget.spend(8);
  out.push(value);
}

function project(list: readonly Json[], rest: Evaluator | undefined, evaluation: Evaluation): Json[] {
  evaluation.budget.visit(list.length);
  evaluation.budget.spend(16);
  const out: Json[] = [];
  for (const element of list) append(out, element, rest, evaluation);
  return out;
}

function flatten(list: Json[], rest: Evaluator | undefined, evaluation: Evaluation): Json[] {
  evaluation.budget.visit(list.length);
  evaluation.budget.spend(16);
  const out: Json[] = [];
  for (const element of list) {
    if (!Array.isArray(element)) {
      append(out, element, rest, evaluation);
      continue;
    }
    evaluation.budget.visit(element.length);
    for (const inner of element) append(out, inner, rest, evaluation);
  }
  return out;
}

/** Python's slice, as the specification has it. */
function slice(
  list: Json[],
  start: number | null,
  stop: number | null,
  step: number,
  budget: Budget,
): Json[] {
  const { length } = list;
  const clamp = (bound: number, low: number, high: number): number =>
    Math.min(Math.max(bound < 0 ? bound + length : bound, low), high);
  const out: Json[] = [];
  if (step > 0) {
    const end = stop === null ? length : clamp(stop, 0, length);
    for (let i = start === null ? 0 : clamp(start, 0, length); i < end; i += step) out.push(list[i] ?? null);
  } else {
    const end = stop === null ? -1 : clamp(stop, -1, length - 1);
    for (let i = start === null ? length - 1 : clamp(start, -1, length - 1); i > end; i += step)
      out.push(list[i] ?? null);
  }
  budget.visit(out.length);
  return out;
}

function compileCall(call: FunctionCall, compiler: Compiler): Evaluator {
  const { name } = call;
  const spec = functionSpec(name);
  if (spec === undefined) {
    return () => {
      throw new EvaluationError(`there is no function ${name}()`);
    };
  }
  if (!fitsArity(spec, call.args.length)) {
    return () => {
      throw new EvaluationError(`${name}() takes ${describeArity(spec)}, not ${call.args.length}`);
    };
  }
  const args = call.args.map((arg) => compileArgument(arg, compiler));
  return (current, evaluation) => {
    const mark = evaluation.budget.mark();
    const values = args.map((arg) => arg(current, evaluation));
    return settle(callFunction(name, spec, values, evaluation.budget), mark, evaluation.budget);
  };
}

function compileArgument(arg: Ast, compiler: Compiler): (current: Json, evaluation: Evaluation) => Argument {
  if (arg.type !== 'reference') return compileNode(arg, compiler);
  const before = compiler.repeated;
  compiler.repeated = true;
  const evaluate = compileNode(arg.expression, compiler);
  compiler.repeated = before;
  return (_current, evaluation) => (element) => evaluate(element, evaluation);
}
