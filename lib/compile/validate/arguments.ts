/**
 * A call's arguments against the tool's input schema. What is literal is checked by the JSON Schema validator that the
 * MCP SDK brings; what is a template is checked as far as its kind tells (a text is a string, an object has keys).
 *
 * A schema that the validator cannot work with, or not in time, says nothing: it is the server's, and the call is checked
 * there.
 */
import type { JsonSchemaType } from '@modelcontextprotocol/server';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
import { childPointer, quoteValue } from '../../blueprint/diagnostics.ts';
import { isJsonObject, type Json, type JsonObject } from '../../blueprint/json.ts';
import { listNames } from '../../blueprint/suggest.ts';
import { withinTime } from '../../blueprint/time-limit.ts';
import { parseTemplate, type Template } from '../../expression/template.ts';
import type { ToolInfo } from './environment.ts';
import type { OutlineStep } from './outline.ts';
import type { Report } from './report.ts';

/** A check of one argument takes microseconds. One that is broken off is the last of its tool. */
const MAX_CHECK_MS = 100;
const MAX_EXPLANATION = 200;
const MAX_REFERENCES = 16;
/** Argument names that are shown; any other text of a server is not put into a message. */
const SHOWN_NAME = /^[A-Za-z_$@][\w.$@-]{0,63}$/;

type Validate = (value: unknown) => { valid: boolean; errorMessage?: string | undefined };

const validator = new CfWorkerJsonSchemaValidator();
/** By the schema of an argument (or of all). null: the validator cannot work with it. */
const validators = new WeakMap<JsonObject, Validate | null>();
/** Schemas of tools that took too long. */
const slow = new WeakSet<JsonObject>();

/** Where a check is. */
interface Place {
  tool: ToolInfo;
  pointer: string;
  report: Report;
}

export function checkToolArguments(step: OutlineStep, tool: ToolInfo, report: Report): void {
  const given = isJsonObject(step.raw.params) ? step.raw.params : {};
  const pointer = step.raw.params === undefined ? step.pointer : `${step.pointer}/params`;
  const { template } = parseTemplate(given);
  const entries = entriesOf(template).filter(([, each]) => each.kind !== 'literal' || each.value !== null);
  const before = report.diagnostics.length;
  checkMembers(entries, tool.inputSchema, { tool, pointer, report });
  if (template.kind === 'literal' && report.diagnostics.length === before) {
    const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    checkLiteral(present, tool.inputSchema, { tool, pointer, report });
  }
}

function checkMembers(entries: readonly [string, Template][], schema: JsonObject, place: Place): void {
  const { tool, pointer, report } = place;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties).filter((name) => SHOWN_NAME.test(name));
  const given = new Set(entries.map(([name]) => name));
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof name !== 'string' || given.has(name)) continue;
    report.add('BP605', pointer, {
      message: `"${tool.name}" requires the argument ${quoteValue(printable(name))}`,
      got: given.size === 0 ? 'no arguments' : listNames([...given]),
      expected: quoteValue(printable(name)),
    });
  }
  for (const [name, template] of entries) {
    const inner = { ...place, pointer: childPointer(pointer, name) };
    const known = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    if (Object.hasOwn(properties, name) || schema.patternProperties === undefined) {
      if (known === false) {
        report.add('BP606', inner.pointer, {
          message: `"${tool.name}" takes no argument "${name}"; it takes ${listNames(names)}`,
          got: quoteValue(name),
          expected: names.length === 0 ? 'no arguments' : `one of ${listNames(names)}`,
          meant: report.nearest(name, names),
        });
      } else if (isJsonObject(known)) checkValue(template, known, inner);
    }
  }
}

function checkValue(template: Template, authored: JsonObject, place: Place): void {
  if (template.kind === 'expression') return;
  if (template.kind === 'literal') {
    checkLiteral(template.value, authored, place);
    return;
  }
  const schema = resolve(authored, place.tool.inputSchema);
  if (schema === undefined) return;
  const type = template.kind === 'text' ? 'string' : template.kind;
  const allowed = typesOf(schema);
  if (allowed !== undefined && !allowed.includes(type)) {
    refuse(type === 'string' ? 'a text' : `an ${type}`, `a value of type ${allowed.join(' or ')}`, place);
  } else if (template.kind === 'object') checkMembers(template.entries, schema, place);
  else if (template.kind === 'array' && isJsonObject(schema.items)) {
    for (const [i, item] of template.items.entries()) {
      checkValue(item, schema.items, { ...place, pointer: `${place.pointer}/${i}` });
    }
  }
}

function checkLiteral(value: Json, schema: JsonObject, place: Place): void {
  const { inputSchema } = place.tool;
  if (slow.has(inputSchema)) return;
  const validate = validatorOf(schema, inputSchema);
  if (validate === null) return;
  const checked = withinTime(MAX_CHECK_MS, () => explain(validate, value));
  if (checked === undefined) slow.add(inputSchema);
  else if (checked.value !== undefined) refuse(quoteValue(value), checked.value, place);
}

function refuse(got: string, expected: string, { tool, pointer, report }: Place): void {
  report.add('BP604', pointer, {
    message: `${got} does not fit the input schema of "${tool.server}/${tool.name}"`,
    got,
    expected,
  });
}

/** Why the value is refused, or undefined where it fits or the schema cannot be worked with. */
function explain(validate: Validate, value: Json): string | undefined {
  try {
    const { valid, errorMessage } = validate(value);
    if (valid) return undefined;
    // The validator lists from the outside in; the last entry says what is really wrong.
    const innermost = (errorMessage ?? '').split('; ').at(-1) ?? '';
    return printable(
      innermost.replace(/^#(\/\S*)?: /, (_, path?: string) => (path === undefined ? '' : `${path}: `)),
    );
  } catch {
    return undefined; // e.g. a schema that refers to itself without end, or a pattern that is no pattern
  }
}

function validatorOf(schema: JsonObject, root: JsonObject): Validate | null {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  let made: Validate | null;
  try {
    // References point into the whole schema, so its definitions go with the part.
    const { $defs = {}, definitions = {} } = root;
    made = validator.getValidator({ $defs, definitions, ...schema } as JsonSchemaType);
  } catch {
    made = null;
  }
  validators.set(schema, made);
  return made;
}

/** Follows local references; undefined where one leads nowhere. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  let at: Json | undefined = schema;
  for (let i = 0; i < MAX_REFERENCES && isJsonObject(at); i++) {
    const reference: Json | undefined = at.$ref;
    if (reference === undefined) return at;
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
    let target: Json | undefined = root;
    for (const key of reference.slice(2).split('/')) {
      target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
    }
    at = target;
  }
  return undefined;
}

/** The JSON types a schema names; undefined where it names none. */
function typesOf(schema: JsonObject): string[] | undefined {
  if (typeof schema.type === 'string') return [schema.type];
  if (!Array.isArray(schema.type)) return undefined;
  return schema.type.filter((each) => typeof each === 'string');
}

function entriesOf(template: Template): [string, Template][] {
  if (template.kind === 'object') return template.entries;
  if (template.kind !== 'literal' || !isJsonObject(template.value)) return [];
  return Object.entries(template.value).map(([name, value]) => [name, { kind: 'literal', value }]);
}

/** Text of a server for a data field: one line, no control, bidirectional or tag characters, bounded. */
function printable(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, ' ').trim();
  return clean.length > MAX_EXPLANATION ? `${clean.slice(0, MAX_EXPLANATION)}...` : clean;
}
