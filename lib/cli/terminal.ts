/**
 * Writing to a terminal. What comes from downstream (names, messages, values) may hold escape sequences; they never reach
 * the terminal raw.
 */
const CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu;

/** Text without control, bidirectional and tag characters; line breaks and tabs stay. */
export function plain(text: string): string {
  return text.replace(CONTROL, '');
}

/** A value as JSON in lines. The characters that `plain` drops stand escaped in it, so what is read back is the value. */
export function jsonLines(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(CONTROL, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

export interface Output {
  out(line: string): void;
  err(line: string): void;
  /** Whether progress may be drawn in place. */
  interactive: boolean;
}

export const stdio: Output = {
  out: (line) => process.stdout.write(`${plain(line)}\n`),
  err: (line) => process.stderr.write(`${plain(line)}\n`),
  interactive: process.stderr.isTTY === true,
};
