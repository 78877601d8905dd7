/**
 * Canonical JSON and the hash of a stored document. One value has one text, whatever order its keys were written in, so
 * a hash names content: the same blueprint saved twice is the same revision.
 *
 * The text is that of RFC 8785 (JCS): keys sorted by UTF-16 code units, no spaces, numbers and strings as
 * `JSON.stringify` writes them.
 */
import { createHash } from 'node:crypto';
import type { Json } from './json.ts';
import type { BlueprintDocument } from './types.ts';

/** The canonical text of a JSON value. Properties whose value is `undefined` are left out, as in `JSON.stringify`. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** SHA-256 (hex) of the canonical text of a stored document: its name in the store. */
export function documentHash(document: BlueprintDocument): string {
  return createHash('sha256')
    .update(canonicalJson(document as unknown as Json))
    .digest('hex');
}
