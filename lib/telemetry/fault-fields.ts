/** A fault that nobody foresaw, as the log has it. What it says may hold anything, so it goes nowhere else. */
import { cleanText } from '../downstream/clean-text.ts';

/** A parser's message quotes the text that it could not read, so it is left out. */
export function faultFields(error: unknown): { error: string; message: string; trace: string } {
  if (!(error instanceof Error)) return { error: typeof error, message: '', trace: '' };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: error.name,
    message: error instanceof SyntaxError ? '' : cleanText(error.message),
    trace: frames.map((line) => line.trim()).join('; '),
  };
}
