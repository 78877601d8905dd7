/**
 * Text that came from a downstream server, made fit to stand in an error message.
 *
 * What always holds of the result: no control, bidirectional, zero-width or tag character; at most 1 KiB of UTF-8, cut
 * between two code points. Newlines and tabs become spaces, so that the text cannot start a line of its own in a log.
 * It does not judge what the text says: callers put it into data fields only, never into a prompt.
 */

/** Bytes of UTF-8 that a cleaned text has at most; see "Safety" in docs/architecture.md. */
export const MAX_TEXT_BYTES = 1024;

const ELLIPSIS = '…';
const ELLIPSIS_BYTES = 3;

/**
 * Controls, format characters (directional, zero-width, soft hyphen, tags, byte order mark), lone surrogates, line and
 * paragraph separators, and all of the plane in which tags and invisible variation selectors stand.
 */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu;
const SPACES = new Set(['\n', '\r', '\t', '\u2028', '\u2029']);

function replacement(character: string): string {
  return SPACES.has(character) ? ' ' : '';
}

/** The text with its lines, without what nobody can see: what a tool says of itself, as agents read it. */
export function visibleText(text: string): string {
  return text.replace(UNFIT, (character) => (character === '\n' || character === '\t' ? character : ''));
}

/** Cleans `text` and ends it at `maxBytes` of UTF-8 (an ellipsis says that something was cut). */
export function cleanText(text: string, maxBytes: number = MAX_TEXT_BYTES): string {
  // A character has at least one byte: what lies far beyond the limit is not even looked at.
  const head = text.length > maxBytes * 8 ? text.slice(0, maxBytes * 8) : text;
  const cleaned = head.replace(UNFIT, replacement).replace(/ {2,}/g, ' ').trim();
  if (Buffer.byteLength(cleaned) <= maxBytes && head.length === text.length) return cleaned;
  let bytes = 0;
  let end = 0;
  for (const character of cleaned) {
    const size = Buffer.byteLength(character);
    if (bytes + size > maxBytes - ELLIPSIS_BYTES) break;
    bytes += size;
    end += character.length;
  }
  return `${cleaned.slice(0, end)}${ELLIPSIS}`;
}
