/**
 * Event patterns of EventBridge, as far as the template uses them: objects down to lists of what a field may be, which are strings,
 * numbers, booleans and null as they are, `{ "prefix": … }` and `{ "anything-but": { "wildcard": … } }`. All fields of a pattern must match, of a list one entry.
 * Source: EventBridge user guide, "Creating event patterns" and "Comparison operators".
 */
import { isJsonObject, type Json, type JsonObject } from '../lib/blueprint/json.ts';
import { UnknownToRehearsal } from './iam/refusal.ts';

/** Throws where a pattern has an operator that is not known here. */
export function checkPattern(pattern: JsonObject, place: string): void {
  for (const [name, wanted] of Object.entries(pattern)) {
    const at = `${place}/${name}`;
    if (isJsonObject(wanted)) checkPattern(wanted, at);
    else if (!Array.isArray(wanted) || wanted.length === 0 || name.startsWith('$')) {
      throw new UnknownToRehearsal(at, JSON.stringify(wanted), 'objects, and lists of values and prefixes');
    } else {
      for (const each of wanted) checkEntry(each, at);
    }
  }
}

function checkEntry(entry: Json, place: string): void {
  if (!Array.isArray(entry) && !isJsonObject(entry)) return;
  const keys = isJsonObject(entry) ? Object.keys(entry) : [];
  if (isJsonObject(entry) && keys.length === 1) {
    if (typeof entry.prefix === 'string' || excludedBy(entry) !== undefined) return;
  }
  const known = 'values, { "prefix": "…" } and { "anything-but": { "wildcard": "…" } }';
  throw new UnknownToRehearsal(place, JSON.stringify(entry), known);
}

/** The wildcard of an `anything-but`; undefined: the entry is none. */
function excludedBy(entry: JsonObject): string | undefined {
  const excluded = entry['anything-but'];
  if (!isJsonObject(excluded) || Object.keys(excluded).length !== 1) return undefined;
  return typeof excluded.wildcard === 'string' ? excluded.wildcard : undefined;
}

/** Whether an event is one that a checked pattern means. */
export function matchesEvent(pattern: JsonObject, event: JsonObject): boolean {
  return Object.entries(pattern).every(([name, wanted]) => {
    const given = event[name];
    if (isJsonObject(wanted)) return isJsonObject(given) && matchesEvent(wanted, given);
    const values = given === undefined ? [] : Array.isArray(given) ? given : [given];
    return (Array.isArray(wanted) ? wanted : []).some((entry) => values.some((value) => means(entry, value)));
  });
}

function means(entry: Json, value: Json): boolean {
  if (!isJsonObject(entry)) return entry === value;
  if (typeof value !== 'string') return false;
  const excluded = excludedBy(entry);
  return excluded === undefined ? value.startsWith(String(entry.prefix)) : !matchesWildcard(excluded, value);
}

/** `*` is any text, also none; everything else is itself. */
function matchesWildcard(wildcard: string, value: string): boolean {
  const parts = wildcard.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`).test(value);
}
