/** Reading a blueprint file: JSON, with faults that name the file and the place. */
import { readFile } from 'node:fs/promises';
import type { Diagnostic } from '../blueprint/diagnostics.ts';
import type { Json } from '../blueprint/json.ts';
import { CliError, EXIT } from './exit-codes.ts';
import type { Output } from './terminal.ts';

/** @throws CliError: the file cannot be read (1) or is not JSON (3) */
export async function readBlueprintFile(file: string): Promise<Json> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new CliError(`${file}: ${why}`);
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as Json;
  } catch (error) {
    throw new CliError(`${file}: not JSON: ${error instanceof Error ? error.message : ''}`, EXIT.invalid);
  }
}

/** One line a diagnostic, its hint below. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], output: Output): void {
  for (const { severity, code, message, hint } of diagnostics) {
    output.err(`${severity} ${code}  ${message}`);
    output.err(`       ${hint}`);
  }
}
