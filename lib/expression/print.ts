/**
 * Syntax tree to source: what a hint offers to write instead. Reading it gives the same tree again, offsets aside.
 */
import type { Ast, PathStart, PathStep } from './ast.ts';

/** How tightly a node binds; a looser one stands in parentheses where a tighter one is wanted. */
const LEVEL = { pipe: 1, or: 2, and: 3, compare: 4, path: 5, literal: 5, not: 5, reference: 5 } as const;

export function printAst(node: Ast): string {
  return print(node, 1);
}

function print(node: Ast, level: number): string {
  const text = printBare(node);
  return LEVEL[node.type] < level ? `(${text})` : text;
}

function printBare(node: Ast): string {
  switch (node.type) {
    case 'literal':
      return node.form === 'raw' && typeof node.value === 'string'
        ? `'${node.value.replaceAll("'", "\\'")}'`
        : `\`${JSON.stringify(node.value).replaceAll('`', '\\`')}\``;
    case 'path':
      return printPath(node);
    case 'not':
      return `!${bindsToNot(node.operand) ? print(node.operand, 5) : `(${printBare(node.operand)})`}`;
    case 'compare':
      return `${print(node.left, 4)} ${node.operator} ${print(node.right, 5)}`;
    case 'and':
      return node.operands.map((operand) => print(operand, 4)).join(' && ');
    case 'or':
      return node.operands.map((operand) => print(operand, 3)).join(' || ');
    case 'pipe':
      return node.stages.map((stage) => print(stage, 2)).join(' | ');
    case 'reference':
      return `&${print(node.expression, 1)}`;
  }
}

/** Operands that stand behind `!` without parentheses whatever follows. */
function bindsToNot(operand: Ast): boolean {
  if (operand.type === 'literal' || operand.type === 'not') return true;
  if (operand.type !== 'path') return false;
  const { start, steps } = operand;
  if (start.type === 'root' || (start.type === 'current' && start.written)) return steps.length === 0;
  if (start.type !== 'current' || steps.length !== 1) return false;
  return steps[0]?.type === 'field' || steps[0]?.type === 'call';
}

function printPath(node: Ast & { type: 'path' }): string {
  let text = printStart(node.start, node.steps[0]);
  for (const step of node.steps) text += printStep(step, text === '');
  return text;
}

function printStart(start: PathStart, next: PathStep | undefined): string {
  switch (start.type) {
    case 'current':
      return start.written ? '@' : '';
    case 'root':
      return '$';
    case 'literal':
      return printBare(start);
    case 'path':
      return next === undefined || next.type === 'flatten' ? printBare(start) : `(${printBare(start)})`;
    default:
      return `(${printBare(start)})`;
  }
}

function printStep(step: PathStep, first: boolean): string {
  const dot = first ? '' : '.';
  switch (step.type) {
    case 'field':
      return dot + printName(step.name, step.quoted);
    case 'index':
      return `[${step.index}]`;
    case 'slice':
      return `[${step.start ?? ''}:${step.stop ?? ''}${step.step === 1 ? '' : `:${step.step}`}]`;
    case 'list-wildcard':
      return '[*]';
    case 'object-wildcard':
      return `${dot}*`;
    case 'filter':
      return `[?${printAst(step.condition)}]`;
    case 'flatten':
      return '[]';
    case 'multi-list': {
      const items = step.items.map(printAst).join(', ');
      return `${dot}[${items === '*' ? '(*)' : items}]`;
    }
    case 'multi-hash': {
      const entries = step.entries.map(({ key, value }) => `${printName(key)}: ${printAst(value)}`);
      return `${dot}{${entries.join(', ')}}`;
    }
    case 'call':
      return `${dot}${step.name}(${step.args.map(printAst).join(', ')})`;
  }
}

export function printName(name: string, quoted = false): string {
  return !quoted && /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) ? name : JSON.stringify(name);
}

/** A string as an expression: between single quotes where that is possible. */
export function printString(value: string): string {
  const form = value.includes('\\') ? 'json' : 'raw';
  return printBare({ type: 'literal', value, form, offset: 0 });
}
