/**
 * Shape: fields, types, limits. zod finds the faults, one step at a time; this puts them into the words of a diagnostic.
 */
import type * as z from 'zod';
import { childPointer, quoteValue } from '../../blueprint/diagnostics.ts';
import type { JsonObject } from '../../blueprint/json.ts';
import { blueprintShape, stepShapes } from '../../blueprint/schema.ts';
import { listNames } from '../../blueprint/suggest.ts';
import { isStepType, type Outline, type OutlineStep } from './outline.ts';
import type { Report } from './report.ts';

type Issue = z.core.$ZodIssue;

/** What authors write for a field of ours, from other workflow languages and from MCP. */
const OTHER_NAMES: Record<string, string> = {
  args: 'params',
  arguments: 'params',
  inputs: 'params',
  with: 'params',
  parameters: 'params',
  if: 'when',
  condition: 'when',
  items: 'over',
  forEach: 'over',
  foreach: 'over',
  each: 'as',
  body: 'do',
  retries: 'errorStrategy',
  retry: 'errorStrategy',
  onError: 'errorStrategy',
  onFailure: 'errorStrategy',
  onStepFailure: 'errorStrategy',
  maxRetries: 'errorStrategy',
  timeout: 'timeoutSeconds',
  timeoutMs: 'timeoutSeconds',
  maxConcurrency: 'concurrency',
  maxIterations: 'max',
  transform: 'select',
  outputs: 'output',
  name: 'id',
};

/** Step types and parameter types as they are called elsewhere. */
const OTHER_WORDS: Record<string, string> = {
  tool: 'call',
  task: 'call',
  action: 'call',
  foreach: 'loop',
  forEach: 'loop',
  for: 'loop',
  map: 'loop',
  while: 'loop',
  sequence: 'pipe',
  chain: 'pipe',
  group: 'collect',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  str: 'string',
  list: 'array',
  dict: 'object',
};

const EXPECTED: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
};

export function checkShape(outline: Outline, report: Report): void {
  for (const issue of issuesOf(blueprintShape, outline.blueprint)) {
    describe(issue, outline.blueprint, '', Object.keys(blueprintShape.shape), report);
  }
  for (const step of outline.all) checkStep(step, report);
}

function checkStep(step: OutlineStep, report: Report): void {
  const { raw, pointer } = step;
  if (!isStepType(raw.type)) {
    const types = Object.keys(stepShapes);
    if (raw.type === undefined) {
      report.add('BP110', pointer, {
        message: 'the field "type" is missing',
        got: 'nothing',
        expected: `one of ${listNames(types)}`,
      });
    } else {
      report.add('BP117', `${pointer}/type`, {
        message: `unknown step type ${quoteValue(raw.type)}; the types are ${listNames(types)}`,
        got: quoteValue(raw.type),
        expected: `one of ${listNames(types)}`,
        meant: meantWord(raw.type, types, report),
      });
    }
    return;
  }
  const shape: z.ZodObject = stepShapes[raw.type];
  for (const issue of issuesOf(shape, raw)) describe(issue, raw, pointer, Object.keys(shape.shape), report);
}

function issuesOf(shape: z.ZodType, value: unknown): readonly Issue[] {
  const parsed = shape.safeParse(value);
  return parsed.success ? [] : parsed.error.issues;
}

/** One zod issue of the object `raw` at `pointer`, whose fields are `fields`, as a diagnostic. */
function describe(
  issue: Issue,
  raw: JsonObject,
  pointer: string,
  fields: readonly string[],
  report: Report,
): void {
  const at = issue.path.reduce<string>((p, key) => childPointer(p, key as string | number), pointer);
  const value = valueAt(raw, issue.path);
  const got = quoteValue(value);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = issue.path.length === 0 ? fields : fieldsAt(issue.path);
      for (const key of issue.keys) unknownField(key, at, known, report);
      return;
    }
    case 'invalid_type': {
      const expected = EXPECTED[issue.expected] ?? issue.expected;
      wrongType(at, value, expected, issue.path.at(-1), report);
      return;
    }
    case 'invalid_union': {
      const fitting = issue.errors.find((branch) => !branch.some(isMismatch));
      if (fitting !== undefined) {
        for (const inner of fitting) {
          describe({ ...inner, path: [...issue.path, ...inner.path] } as Issue, raw, pointer, fields, report);
        }
        return;
      }
      const expected = [...new Set(issue.errors.flatMap((branch) => branch.flatMap(expectedType)))].join(
        ' or ',
      );
      wrongType(at, value, expected, issue.path.at(-1), report);
      return;
    }
    case 'invalid_value': {
      const words = issue.values.map(String);
      if (value === undefined) {
        wrongType(at, value, `one of ${listNames(words)}`, issue.path.at(-1), report);
        return;
      }
      report.add('BP113', at, {
        message: `${got} is not allowed; it is one of ${listNames(words)}`,
        got,
        expected: `one of ${listNames(words)}`,
        meant: meantWord(value, words, report),
      });
      return;
    }
    case 'too_small':
      if (issue.origin === 'array') {
        report.add('BP116', at, {
          message: 'the list is empty; it needs at least one step',
          got: 'an empty list',
          expected: 'at least one step',
        });
      } else outOfLimits(at, got, `at least ${issue.minimum}`, report);
      return;
    case 'too_big':
      outOfLimits(at, got, `at most ${issue.maximum}`, report);
      return;
    case 'invalid_format':
      wrongFormat(at, value, issue, report);
      return;
    case 'invalid_key': {
      const name = String(issue.path.at(-1));
      report.add('BP201', at, {
        message: `"${name.slice(0, 80)}" is not a name: a letter, then up to 63 letters, digits, "_" or "-"`,
        got: quoteValue(name),
        expected: 'a letter, then up to 63 letters, digits, "_" or "-"',
      });
      return;
    }
    default:
      report.add('BP112', at, { message: issue.message, got });
  }
}

function meantWord(value: unknown, words: readonly string[], report: Report): string | undefined {
  if (typeof value !== 'string') return undefined;
  const other = Object.hasOwn(OTHER_WORDS, value) ? OTHER_WORDS[value] : undefined;
  return other !== undefined && words.includes(other) ? other : report.nearest(value, words);
}

function unknownField(key: string, pointer: string, fields: readonly string[], report: Report): void {
  if (key === '__proto__') return; // checkBounds has reported it
  const other = Object.hasOwn(OTHER_NAMES, key) ? OTHER_NAMES[key] : undefined;
  const meant = other !== undefined && fields.includes(other) ? other : report.nearest(key, fields);
  report.add('BP111', childPointer(pointer, key), {
    message: `unknown field "${key.slice(0, 80)}"; the fields here are ${listNames(fields, 20)}`,
    got: quoteValue(key),
    expected: `one of ${listNames(fields, 20)}`,
    meant,
  });
}

function wrongType(
  pointer: string,
  value: unknown,
  expected: string,
  field: PropertyKey | undefined,
  report: Report,
): void {
  if (value === undefined) {
    const holder = pointer.slice(0, pointer.lastIndexOf('/'));
    report.add('BP110', holder, {
      message: `the field "${String(field)}" is missing`,
      got: 'nothing',
      expected: `"${String(field)}": ${expected}`,
    });
    return;
  }
  const got = quoteValue(value);
  report.add('BP112', pointer, { message: `${expected} is needed, ${got} came`, got, expected });
}

function outOfLimits(pointer: string, got: string, expected: string, report: Report): void {
  report.add('BP114', pointer, { message: `${got} is outside the limits: ${expected}`, got, expected });
}

function wrongFormat(pointer: string, value: unknown, issue: Issue, report: Report): void {
  const got = quoteValue(value);
  const field = issue.path.at(-1);
  if (field === 'tool' || field === 'workflow') {
    if (typeof value === 'string' && value.includes('{{')) {
      report.add('BP309', pointer, {
        message: `"${field}" is a literal, never a template`,
        got,
        expected: `the name of a ${field}`,
        hint: 'Write one step for each and choose with "when".',
      });
      return;
    }
    const expected = field === 'tool' ? '"name" or "server/name", without spaces' : '"id" or "id@latest"';
    report.add('BP115', pointer, { message: `${got} is not the name of a ${field}`, got, expected });
    return;
  }
  const expected =
    pointer === '/id'
      ? 'a lower-case letter, then up to 47 lower-case letters, digits or "-"'
      : 'a letter, then up to 63 letters, digits, "_" or "-"';
  report.add('BP201', pointer, { message: `${got} is not a name: ${expected}`, got, expected });
}

/** The fields of the object at a path inside a blueprint or step: only three objects are strict there. */
function fieldsAt(path: readonly PropertyKey[]): readonly string[] {
  if (path[0] === 'schedules') return ['name', 'schedule', 'timezone', 'params', 'enabled'];
  return path[0] === 'params'
    ? ['type', 'description', 'default']
    : ['onStepFailure', 'maxRetries', 'retryDelayMs', 'backoffRate', 'maxDelayMs', 'jitter', 'collectErrors'];
}

function isMismatch(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}

function expectedType(issue: Issue): string[] {
  return issue.code === 'invalid_type' ? [EXPECTED[issue.expected] ?? issue.expected] : [];
}

function valueAt(raw: JsonObject, path: readonly PropertyKey[]): unknown {
  let value: unknown = raw;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
