/**
 * Whether a text holds another, in time that grows with the sum of their lengths. The built-in search takes their product
 * where both repeat themselves, and texts come from outside.
 */

/** Up to this length the built-in search is the faster one, whatever the texts are. */
const SHORT = 64;

export function includes(text: string, what: string): boolean {
  if (what.length <= SHORT) return text.includes(what);
  if (what.length > text.length) return false;
  const borders = bordersOf(what);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && what.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (what.charCodeAt(matched) === unit) matched++;
    if (matched === what.length) return true;
  }
  return false;
}

/** Of each beginning of a text, the length of its longest proper beginning that is also its end (Knuth, Morris, Pratt). */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}
