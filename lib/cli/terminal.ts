/**
 * Writing to a terminal. What comes from downstream (names, messages, values) may hold escape sequences; they never reach
 * the terminal raw.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text without control and bidirectional characters; line breaks and tabs stay. */
export function plain(text: string): string {
  return text.replace(CONTROL, '');
}

/** A value as JSON in lines. The characters that `plain` drops stand escaped in it, so what is read back is the value. */
export function jsonLines(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
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
