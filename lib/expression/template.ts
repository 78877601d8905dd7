/**
 * Templates: JSON in which strings may hold `{{ expression }}`.
 *
 * A string that is one template keeps the type of its value; in a longer string values are written as text. Parsing
 * never throws and finds every problem at once; evaluation makes one pass: what an expression answers is data and is
 * never scanned again. Keys are not templates.
 */
import type { Json, JsonObject } from '../blueprint/json.ts';
import { MAX_JSON_DEPTH } from '../blueprint/limits.ts';
import { type Budget, createBudget } from './budget.ts';
import { EvaluationError, ExpressionSyntaxError } from './errors.ts';
import { type Expression, evaluateExpression, parseExpression } from './expression.ts';
import { measure, toText } from './measure.ts';
import { type ScannedExpression, scanText } from './scan.ts';
import { setField } from './values.ts';

export type Template =
  | { kind: 'literal'; value: Json }
  /** The whole string is one expression: the value keeps its type. */
  | { kind: 'expression'; expression: Expression }
  | { kind: 'text'; parts: (string | Expression)[] }
  | { kind: 'array'; items: Template[] }
  | { kind: 'object'; entries: [string, Template][] };

export interface TemplateProblem {
  /** JSON pointer of the string (or of the object whose key it is). */
  pointer: string;
  /** Into that string, in UTF-16 units. */
  offset: number;
  message: string;
  kind: 'syntax' | 'unclosed' | 'too-long' | 'too-deep' | 'template-in-key';
  /** The expression, or the string where there is none. */
  source: string;
  hint?: string;
}

/**
 * A JSON value as a template, with every problem in it; what has a problem stays a literal. Never throws.
 * @param pointer JSON pointer of `value`, to which the pointers of what is inside are appended.
 */
export function parseTemplate(
  value: Json,
  pointer = '',
): { template: Template; problems: TemplateProblem[] } {
  const problems: TemplateProblem[] = [];
  return { template: parseValue(value, pointer, 0, problems), problems };
}

function parseValue(value: Json, pointer: string, depth: number, problems: TemplateProblem[]): Template {
  if (typeof value === 'string') return parseString(value, pointer, problems);
  if (value === null || typeof value !== 'object') return { kind: 'literal', value };
  if (depth >= MAX_JSON_DEPTH) {
    const message = `values nest at most ${MAX_JSON_DEPTH} deep`;
    problems.push({ pointer, offset: 0, message, kind: 'too-deep', source: '' });
    return { kind: 'literal', value };
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => parseValue(item, `${pointer}/${index}`, depth + 1, problems));
    if (items.every((item, index) => item.kind === 'literal' && item.value === value[index])) {
      return { kind: 'literal', value };
    }
    return { kind: 'array', items };
  }
  let same = true;
  const entries = Object.keys(value).map((name): [string, Template] => {
    const inner = value[name] ?? null;
    const template = parseValue(inner, `${pointer}/${escapePointer(name)}`, depth + 1, problems);
    const key = parseKey(name, pointer, problems);
    same &&= key === name && template.kind === 'literal' && template.value === inner;
    return [key, template];
  });
  return same ? { kind: 'literal', value } : { kind: 'object', entries };
}

/** Keys are literal, so that what a blueprint passes on can be read from it. */
function parseKey(name: string, pointer: string, problems: TemplateProblem[]): string {
  const { parts, unclosedAt } = scanText(name);
  const expression = parts.find((part) => typeof part !== 'string');
  if (expression === undefined && unclosedAt === undefined) return parts.join('');
  problems.push({
    pointer,
    offset: unclosedAt ?? (expression as ScannedExpression).start,
    message: `the key ${JSON.stringify(name)} holds a template, and keys are literal`,
    kind: 'template-in-key',
    source: name,
    hint: 'write the object with an expression, or the braces as \\{{',
  });
  return name;
}

function parseString(text: string, pointer: string, problems: TemplateProblem[]): Template {
  if (!text.includes('{{')) return { kind: 'literal', value: text };
  const scanned = scanText(text);
  if (scanned.unclosedAt !== undefined) {
    const { unclosedAt: offset, openQuote } = scanned;
    problems.push({
      pointer,
      offset,
      message: openQuote
        ? `the template that begins here has a quote ${openQuote} that is not closed`
        : 'the template that begins here is not closed with }}',
      kind: 'unclosed',
      source: text.slice(offset),
      hint: 'a template is {{ expression }}; literal braces are written \\{{',
    });
    return { kind: 'literal', value: text };
  }
  let faulty = false;
  const parts = scanned.parts.map((part) => {
    if (typeof part === 'string') return part;
    const expression = parsePart(part, pointer, problems);
    faulty ||= expression === undefined;
    return expression ?? '';
  });
  if (faulty) return { kind: 'literal', value: text };
  const [first] = parts;
  if (parts.length === 1 && typeof first === 'object') return { kind: 'expression', expression: first };
  if (parts.every((part) => typeof part === 'string')) return { kind: 'literal', value: parts.join('') };
  return { kind: 'text', parts };
}

function parsePart(
  part: ScannedExpression,
  pointer: string,
  problems: TemplateProblem[],
): Expression | undefined {
  try {
    return parseExpression(part.source, part.start);
  } catch (error) {
    if (!(error instanceof ExpressionSyntaxError)) throw error;
    problems.push({
      pointer,
      offset: part.start + error.offset,
      message: error.message,
      kind: error.kind,
      source: part.source,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
    return undefined;
  }
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * The value of a template. Arrays and objects are new; values of expressions are shared with the scope.
 * @throws EvaluationError with the expression that failed, also for null within a text.
 */
export function evaluateTemplate(
  template: Template,
  scope: JsonObject,
  budget: Budget = createBudget(),
): Json {
  const value = evaluate(template, scope, budget);
  // Many expressions may each name something large: what counts is the whole as it will be written down.
  if (template.kind === 'array' || template.kind === 'object') measure(value, budget);
  return value;
}

function evaluate(template: Template, scope: JsonObject, budget: Budget): Json {
  switch (template.kind) {
    case 'literal':
      return template.value;
    case 'expression':
      return evaluateExpression(template.expression, scope, budget);
    case 'text':
      return evaluateText(template.parts, scope, budget);
    case 'array':
      return template.items.map((item) => evaluate(item, scope, budget));
    case 'object': {
      const object: JsonObject = {};
      for (const [key, inner] of template.entries) setField(object, key, evaluate(inner, scope, budget));
      return object;
    }
  }
}

function evaluateText(parts: (string | Expression)[], scope: JsonObject, budget: Budget): string {
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part;
    const value = evaluateExpression(part, scope, budget);
    if (value === null) {
      throw new EvaluationError(
        "is null, and null has no text: give a default, e.g. {{ x || '' }}",
        'TemplateError',
        part.source,
      );
    }
    return embed(value, part, budget);
  });
  budget.spend(texts.reduce((sum, text) => sum + text.length, 0));
  return texts.join('');
}

function embed(value: Json, part: Expression, budget: Budget): string {
  try {
    return toText(value, budget);
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    throw new EvaluationError(error.message, error.kind, part.source);
  }
}

/** Every expression of a template, with the JSON pointer of the string it stands in. */
export function templateExpressions(
  template: Template,
  pointer = '',
): { expression: Expression; pointer: string; whole: boolean }[] {
  switch (template.kind) {
    case 'literal':
      return [];
    case 'expression':
      return [{ expression: template.expression, pointer, whole: true }];
    case 'text':
      return template.parts
        .filter((part) => typeof part === 'object')
        .map((expression) => ({ expression, pointer, whole: false }));
    case 'array':
      return template.items.flatMap((item, index) => templateExpressions(item, `${pointer}/${index}`));
    case 'object':
      return template.entries.flatMap(([name, inner]) =>
        templateExpressions(inner, `${pointer}/${escapePointer(name)}`),
      );
  }
}
