/** What can be said of a call without evaluating it: the function, the number of its arguments, their kinds, nulls. */

import { nearestName } from '../blueprint/suggest.ts';
import { type Ast, type FunctionCall, soleStep } from './ast.ts';
import {
  describeArity,
  type FunctionSpec,
  fitsArity,
  functionNames,
  functionSpec,
  parameterOf,
} from './functions.ts';
import { type LintContext, lintQuotedString } from './lint-findings.ts';
import { printAst } from './print.ts';
import { type Current, ELEMENT, typesOf } from './static-types.ts';
import { describeTypes } from './values.ts';

/** What other languages call it, where that is too far off for a guess by spelling. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  len: 'length',
  count: 'length',
  size: 'length',
  concat: 'join',
  includes: 'contains',
  average: 'avg',
  mean: 'avg',
  str: 'to_string',
  string: 'to_string',
  int: 'to_number',
  float: 'to_number',
  number: 'to_number',
  coalesce: 'not_null',
  default: 'not_null',
  typeof: 'type',
  round: 'floor',
  order_by: 'sort_by',
};

/** What is written without a function. */
const INSTEAD: Readonly<Record<string, string>> = {
  filter: 'a filter is written list[?condition]',
  first: 'the first element is list[0]; of a filtered list, list[?condition] | [0]',
  last: 'the last element is list[-1]; of a filtered list, list[?condition] | [-1]',
  if: 'write condition && value || other',
  flatten: 'a list is flattened by list[]',
  exists: 'compare with null: field != `null`',
  equals: 'write a == b',
  not: 'write !(expression)',
};

export function lintCall(call: FunctionCall, current: Current, context: LintContext): void {
  const spec = functionSpec(call.name);
  if (spec === undefined) {
    reportUnknown(call, context);
    return;
  }
  if (!fitsArity(spec, call.args.length)) {
    context.report(
      'wrong-arity',
      call.offset,
      `${call.name}() takes ${describeArity(spec)}, not ${call.args.length}`,
      `write ${spec.usage}`,
    );
    return;
  }
  for (const [index, arg] of call.args.entries()) lintArgument(call, spec, arg, index, context);
  if (call.name === 'length') lintNullArgument(call, 0, current, context);
  if (call.name === 'join') lintJoin(call, current, context);
}

function reportUnknown(call: FunctionCall, context: LintContext): void {
  const { name } = call;
  const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined;
  const elsewhere = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
  const meant = elsewhere ?? nearestName(name, functionNames());
  context.report(
    'unknown-function',
    call.offset,
    `there is no function ${name}()`,
    instead ??
      (meant === undefined
        ? `the functions are ${functionNames().join(', ')}`
        : `did you mean ${functionSpec(meant)?.usage}?`),
  );
}

function lintArgument(
  call: FunctionCall,
  spec: FunctionSpec,
  arg: Ast,
  index: number,
  context: LintContext,
): void {
  const type = parameterOf(spec, index);
  const place =
    call.args.length === 1 ? `the argument of ${call.name}()` : `argument ${index + 1} of ${call.name}()`;
  if (type === 'expression') {
    if (arg.type === 'reference') return;
    const step = soleStep(arg);
    const field: Ast =
      step?.type === 'field' || arg.type !== 'literal' || typeof arg.value !== 'string'
        ? arg
        : fieldOfName(arg.value, arg.offset);
    context.report(
      'wrong-argument',
      arg.offset,
      `${place} is an expression, and it is written with &`,
      `write &${printAst(field)} there: ${spec.usage}`,
    );
    return;
  }
  if (arg.type === 'reference') {
    context.report(
      'wrong-argument',
      arg.offset,
      `${place} is a value, not an expression with &`,
      `write ${spec.usage}`,
    );
    return;
  }
  if (call.name === 'contains' && index === 1) lintQuotedString(arg, context);
  if (type === 'any') return;
  if (type.includes('string')) lintQuotedString(arg, context);
  const types = typesOf(arg);
  if (types === undefined || types.some((each) => type.includes(each))) return;
  context.report(
    'wrong-argument',
    arg.offset,
    `${place} takes ${describeTypes(type)}, and this is ${describeTypes(types)}`,
    `write ${spec.usage}`,
  );
}

function fieldOfName(name: string, offset: number): Ast {
  return {
    type: 'path',
    start: { type: 'current', written: false },
    steps: [{ type: 'field', name, quoted: false, offset }],
    offset,
  };
}

function lintNullArgument(call: FunctionCall, index: number, current: Current, context: LintContext): void {
  const arg = call.args[index];
  if (arg === undefined || !context.isNullable(arg, current)) return;
  const empty: Ast = { type: 'literal', value: [], form: 'json', offset: arg.offset };
  const operands = arg.type === 'or' ? [...arg.operands, empty] : [arg, empty];
  const args = call.args.with(index, { type: 'or', operands, offset: arg.offset });
  context.report(
    'null-argument',
    arg.offset,
    `${call.name}() fails on null, and this can be null (a field that is missing is null)`,
    `write ${printCall({ ...call, args })}`,
  );
}

/** `join` wants a list, and strings in it: a projection leaves nulls out, `map` and `[a, b]` keep them. */
function lintJoin(call: FunctionCall, current: Current, context: LintContext): void {
  lintNullArgument(call, 1, current, context);
  const [, list] = call.args;
  const step = list === undefined ? undefined : soleStep(list);
  if (list === undefined || step === undefined) return;
  if (step.type === 'multi-list' && step.items.some((item) => context.isNullable(item, current))) {
    const flat: Ast = {
      type: 'path',
      start: list,
      steps: [{ type: 'flatten', offset: list.offset }],
      offset: list.offset,
    };
    context.report(
      'null-argument',
      list.offset,
      'join() fails on a null in its list, and an element of this one can be null',
      `write ${printCall({ ...call, args: call.args.with(1, flat) })}, which leaves nulls out, or give each a default`,
    );
  }
  const [mapped, source] = step.type === 'call' && step.name === 'map' ? step.args : [];
  if (
    mapped?.type === 'reference' &&
    source !== undefined &&
    context.isNullable(mapped.expression, ELEMENT)
  ) {
    context.report(
      'null-argument',
      list.offset,
      'join() fails on a null in its list, and map() keeps nulls',
      `a projection leaves them out: list[].field in the place of ${printAst(list)}`,
    );
  }
}

function printCall(call: FunctionCall): string {
  return printAst({
    type: 'path',
    start: { type: 'current', written: false },
    steps: [call],
    offset: call.offset,
  });
}
