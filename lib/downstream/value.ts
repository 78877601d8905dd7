/**
 * From a tool's result to the value of its step: "Results" in docs/blueprints.md.
 *
 * Without `parse`, the first that applies: the structured content if the tool gave any (null too); one text block whose
 * trimmed text starts with `{` or `[` and parses, parsed; one text block, its string; else the blocks. Bare `00713`,
 * `true` and `12` stay strings. With `parse`, exactly what it names or a StepFailure of kind ParseError; its message
 * says what was found and where reading stopped, and quotes no more than a few characters of the text.
 *
 * Pure. Binary data has been taken out before; see blobs.ts.
 */
import { type Document, isScalar, parseDocument, visit } from 'yaml';
import { StepFailure } from '../blueprint/errors.ts';
import type { Json, JsonObject } from '../blueprint/json.ts';
import { withinTime } from '../blueprint/time-limit.ts';
import type { ParseMode } from '../blueprint/types.ts';
import { cleanText } from './clean-text.ts';
import { isDeeperThan, MAX_VALUE_DEPTH } from './depth.ts';
import { jsonPlace } from './json-place.ts';

/** One block of `content`: text, image, audio, resource, resource link, or a later kind. */
export type ContentBlock = JsonObject & { type: string };

export interface ReadableResult {
  content: readonly ContentBlock[];
  structured?: Json;
}

/** YAML is read at a megabyte or two a second, and nothing else happens meanwhile. */
const MAX_YAML_LENGTH = 4 * 1024 * 1024;
const MAX_YAML_MS = 15_000;
/** How many nodes the aliases of a YAML document may stand for; a "billion laughs" ends here. */
const MAX_YAML_ALIASES = 100;
/** Finding what one alias stands for takes a walk of the document: this many nodes are walked for all of them. */
const MAX_YAML_ALIAS_VISITS = 10_000_000;
const MAX_YAML_DEPTH = 200;

/** The value of a call step before `select`. Throws StepFailure (ParseError; ResultTooLarge for over 200 levels). */
export function resultValue(result: ReadableResult, parse?: ParseMode): Json {
  const value = readValue(result, parse);
  if (isDeeperThan(value, MAX_VALUE_DEPTH)) {
    throw new StepFailure('ResultTooLarge', `the result is nested deeper than ${MAX_VALUE_DEPTH} levels`);
  }
  return value;
}

function readValue(result: ReadableResult, parse: ParseMode | undefined): Json {
  switch (parse) {
    case undefined:
      return defaultValue(result);
    case 'structured':
      if (result.structured === undefined) throw parseError('the tool gave no structured content');
      return result.structured;
    case 'raw':
      return [...result.content];
    case 'text':
      return textOf(result);
    case 'lines':
      return linesOf(textOf(result));
    case 'json':
      return parseJson(textOf(result));
    case 'yaml':
      return parseYaml(textOf(result));
    default: {
      const never: never = parse;
      throw new Error(`no such parse mode: ${String(never)}`);
    }
  }
}

function defaultValue(result: ReadableResult): Json {
  if (result.structured !== undefined) return result.structured;
  const [first] = result.content;
  if (result.content.length !== 1 || first?.type !== 'text' || typeof first.text !== 'string') {
    return [...result.content];
  }
  const text = first.text;
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') && !trimmed.startsWith('[')) return text;
  try {
    return JSON.parse(trimmed) as Json;
  } catch {
    return text;
  }
}

/**
 * The text of a result: that of its text blocks, or where it has none that of embedded text resources, joined by
 * newlines. A result without any block is the empty text; one that has only other blocks is an error.
 */
function textOf({ content }: ReadableResult): string {
  if (content.length === 0) return '';
  const texts = content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : []));
  if (texts.length > 0) return texts.join('\n');
  const embedded = content.flatMap((block) => {
    const text = (block.resource as JsonObject | undefined)?.text;
    return typeof text === 'string' ? [text] : [];
  });
  if (embedded.length > 0) return embedded.join('\n');
  const types = [...new Set(content.map((block) => block.type))].join(', ');
  throw parseError(`the result has no text, only ${cleanText(types, 100)}`);
}

/** Lines without their ends; the last is dropped where it is empty, so that a final newline makes no line of its own. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function parseJson(text: string): Json {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (source.trim() === '') throw parseError('the text is empty, which is not JSON');
  try {
    return JSON.parse(source) as Json;
  } catch (cause) {
    throw parseError(`the text is not JSON${jsonPlace(source)}; it starts with ${quote(source)}`, cause);
  }
}

/** YAML 1.2, core schema. One document; an object or an array, or null where there is nothing. */
function parseYaml(text: string): Json {
  if (text.length > MAX_YAML_LENGTH) {
    throw new StepFailure(
      'ResultTooLarge',
      `the text has ${text.length} characters; YAML is read up to ${MAX_YAML_LENGTH}`,
    );
  }
  let read: { value: unknown } | undefined;
  try {
    read = withinTime(MAX_YAML_MS, () => readYaml(text));
  } catch (cause) {
    const message = cause instanceof Error ? cleanText(cause.message, 200) : '';
    const reason = message.includes('call stack') ? 'it is nested too deep' : message;
    throw parseError(`the text is not YAML (${reason}); it starts with ${quote(text)}`, cause);
  }
  if (read === undefined) {
    const seconds = MAX_YAML_MS / 1000;
    throw new StepFailure('ResultTooLarge', `the text could not be read as YAML within ${seconds} s`);
  }
  const { value } = read;
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') {
    throw parseError(
      `the text is YAML for a ${typeof value}; an object or an array was expected; it starts with ${quote(text)}`,
    );
  }
  return toJson(value, 0);
}

/** Throws the first thing that is wrong. */
function readYaml(text: string): unknown {
  const document = parseDocument(text, {
    schema: 'core',
    version: '1.2',
    merge: false,
    logLevel: 'error',
    prettyErrors: false,
    // The library compares every key with every other; see checkYaml.
    uniqueKeys: false,
  });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  checkYaml(document);
  return document.toJS({ maxAliasCount: MAX_YAML_ALIASES });
}

/** Throws where a key stands twice, or where the aliases would take too long. */
function checkYaml(document: Document): void {
  let nodes = 0;
  let aliases = 0;
  visit(document, {
    Node: () => void nodes++,
    Alias: () => void aliases++,
    Map(_, map) {
      nodes++;
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        const name: unknown = isScalar(key) ? key.value : key;
        if (keys.has(name)) throw new Error('Map keys must be unique');
        keys.add(name);
      }
    },
  });
  if (aliases * nodes > MAX_YAML_ALIAS_VISITS) throw new Error('it has too many aliases');
}

/** YAML knows values that JSON does not (infinities, keys that are not strings, binary). */
function toJson(value: unknown, depth: number): Json {
  if (depth > MAX_YAML_DEPTH) throw parseError(`the YAML is nested deeper than ${MAX_YAML_DEPTH}`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw parseError('the YAML has a number that JSON cannot hold');
    return value;
  }
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  if (typeof value === 'object') {
    // Built by definition, so that a key named __proto__ is data.
    const object: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      const plain = toJson(item, depth + 1);
      if (key === '__proto__')
        Object.defineProperty(object, key, {
          value: plain,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      else object[key] = plain;
    }
    return object;
  }
  throw parseError(`the YAML has a ${typeof value}, which JSON cannot hold`);
}

function quote(text: string): string {
  return JSON.stringify(cleanText(text, 80));
}

function parseError(message: string, cause?: unknown): StepFailure {
  return new StepFailure('ParseError', message, {}, cause === undefined ? undefined : { cause });
}
