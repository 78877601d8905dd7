/**
 * CloudFormation's intrinsic functions, as far as the template uses them; another one is refused with its place.
 *
 *     { "Fn::Join": ["", ["arn:", { "Ref": "AWS::Partition" }, ":iam::role/x"]] }   →   "arn:aws:iam::role/x"
 *
 * A value that is `AWS::NoValue` takes its property or list entry away with it.
 * Source: CloudFormation user guide, "Intrinsic function reference" and "Pseudo parameters reference".
 */
import { isJsonObject, type Json, type JsonObject } from '../../lib/blueprint/json.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';

/** What a template's names stand for. Both throw for a name that they do not know. */
export interface Names {
  /** Of a resource, parameter or pseudo parameter other than NoValue. */
  ref(name: string, place: string): Json;
  attribute(resource: string, attribute: string, place: string): Json;
  condition(name: string, place: string): boolean;
}

const NO_VALUE = Symbol('AWS::NoValue');
type Resolved = Json | typeof NO_VALUE;

/** The value with every intrinsic carried out. */
export function resolve(value: Json, names: Names, place: string): Json {
  const resolved = visit(value, names, place);
  return resolved === NO_VALUE ? null : resolved;
}

function visit(value: Json, names: Names, place: string): Resolved {
  if (Array.isArray(value)) {
    return value
      .map((each, index) => visit(each, names, `${place}/${index}`))
      .filter((each) => each !== NO_VALUE);
  }
  if (!isJsonObject(value)) return value;
  const call = intrinsicOf(value);
  if (call !== undefined) return carryOut(call.name, call.argument, names, place);
  const entries = Object.entries(value).map(
    ([key, each]) => [key, visit(each, names, `${place}/${key}`)] as const,
  );
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== NO_VALUE));
}

/** An intrinsic is an object of one key that names it. A policy's `Condition` block is none: its value is no string. */
function intrinsicOf(value: JsonObject): { name: string; argument: Json } | undefined {
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length !== 1 || only === undefined) return undefined;
  const [name, argument] = only;
  const is =
    name === 'Ref' || name.startsWith('Fn::') || (name === 'Condition' && typeof argument === 'string');
  return is ? { name, argument } : undefined;
}

function carryOut(name: string, argument: Json, names: Names, place: string): Resolved {
  const at = `${place}/${name}`;
  const list = (length?: number): Json[] => {
    if (!Array.isArray(argument) || (length !== undefined && argument.length !== length))
      throw misused(at, argument);
    return argument;
  };
  const nth = (index: number): Resolved => visit(list()[index] ?? null, names, at);
  switch (name) {
    case 'Ref':
      if (typeof argument !== 'string') throw misused(at, argument);
      return argument === 'AWS::NoValue' ? NO_VALUE : names.ref(argument, at);
    case 'Fn::GetAtt': {
      const [resource, attribute] = typeof argument === 'string' ? splitOnce(argument) : list(2);
      if (typeof resource !== 'string' || typeof attribute !== 'string') throw misused(at, argument);
      return names.attribute(resource, attribute, at);
    }
    case 'Fn::Join': {
      const [separator] = list(2);
      const parts = nth(1);
      if (typeof separator !== 'string' || !Array.isArray(parts)) throw misused(at, argument);
      return parts.map((part) => textOf(part, at)).join(separator);
    }
    case 'Fn::Split': {
      const [separator] = list(2);
      const text = nth(1);
      if (typeof separator !== 'string' || typeof text !== 'string') throw misused(at, argument);
      return text.split(separator);
    }
    case 'Fn::Select': {
      const [index] = list(2);
      const from = nth(1);
      const found = Array.isArray(from) ? from[Number(index)] : undefined;
      if (found === undefined) throw misused(at, argument);
      return found;
    }
    case 'Fn::Sub':
      return substitute(argument, names, at);
    case 'Fn::If':
      list(3);
      return nth(truth(list()[0] ?? null, names, at) ? 1 : 2);
    case 'Condition':
    case 'Fn::Equals':
    case 'Fn::And':
    case 'Fn::Or':
    case 'Fn::Not':
      return truth({ [name]: argument }, names, place);
    default:
      throw new UnknownToRehearsal(
        place,
        `the intrinsic function ${name}`,
        'Ref, GetAtt, Join, Split, Select, Sub, If, Equals, And, Or, Not',
      );
  }
}

/** A condition: its name, or a function of conditions. */
function truth(value: Json, names: Names, place: string): boolean {
  if (typeof value === 'string') return names.condition(value, place);
  const call = isJsonObject(value) ? intrinsicOf(value) : undefined;
  const parts = Array.isArray(call?.argument) ? call.argument : [];
  switch (call?.name) {
    case 'Condition':
      return names.condition(String(call.argument), place);
    case 'Fn::Equals': {
      const [left, right] = parts.map((part) => JSON.stringify(resolve(part, names, place)));
      return left === right;
    }
    case 'Fn::And':
      return parts.every((part) => truth(part, names, place));
    case 'Fn::Or':
      return parts.some((part) => truth(part, names, place));
    case 'Fn::Not':
      return !truth(parts[0] ?? null, names, place);
    default:
      throw new UnknownToRehearsal(place, JSON.stringify(value), 'conditions by name, Equals, And, Or, Not');
  }
}

/** `${Name}`, `${Resource.Attribute}`, `${!literal}`, and names of its own where it has a map. */
function substitute(argument: Json, names: Names, place: string): string {
  const [text, own] = Array.isArray(argument) ? argument : [argument, {}];
  if (typeof text !== 'string' || !isJsonObject(own)) throw misused(place, argument);
  return text.replace(/\$\{(!?)([^}]*)\}/g, (_whole, literal: string, name: string) => {
    if (literal !== '') return `\${${name}}`;
    const given = own[name];
    if (given !== undefined) return textOf(resolve(given, names, place), place);
    const dot = name.indexOf('.');
    return textOf(
      dot === -1 ? names.ref(name, place) : names.attribute(name.slice(0, dot), name.slice(dot + 1), place),
      place,
    );
  });
}

function textOf(value: Json, place: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new UnknownToRehearsal(place, JSON.stringify(value), 'texts, numbers and booleans in a text');
}

function splitOnce(text: string): [string, string] {
  const dot = text.indexOf('.');
  return [text.slice(0, dot), text.slice(dot + 1)];
}

function misused(place: string, argument: Json): UnknownToRehearsal {
  return new UnknownToRehearsal(place, JSON.stringify(argument), 'the arguments of its documentation');
}
