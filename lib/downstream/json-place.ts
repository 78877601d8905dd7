/**
 * Where a text stops being JSON. V8's own sentence often has no position, and quotes the text around, which may hold what
 * is not to be quoted.
 */

/** Longer texts are not searched: each step of the search parses half of what is left. */
const MAX_SEARCHED = 1_000_000;

/** ` (line 3, column 9)`, or nothing where the text is too long to look. For a text that JSON.parse refused. */
export function jsonPlace(text: string): string {
  if (text.length > MAX_SEARCHED) return '';
  // The shortest prefix that is wrong, and not only unfinished, ends with the first wrong character.
  let fine = 0;
  let wrong = text.length + 1;
  while (wrong - fine > 1) {
    const middle = Math.floor((fine + wrong) / 2);
    if (isWrong(text.slice(0, middle))) wrong = middle;
    else fine = middle;
  }
  if (wrong > text.length) return ' (it ends too early)';
  const before = text.slice(0, wrong - 1).split('\n');
  return ` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`;
}

function isWrong(prefix: string): boolean {
  try {
    JSON.parse(prefix);
    return false;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = /at position (\d+)/.exec(message)?.[1];
    if (position !== undefined)
      return Number(position) < prefix.length && !message.startsWith('Unterminated string');
    return !message.startsWith('Unexpected end');
  }
}
