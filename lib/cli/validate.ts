/** `mwe validate FILE`: the language's rules, without connecting to anything. */
import { validateBlueprint } from '../compile/validate.ts';
import { onlyPositional, readArguments } from './arguments.ts';
import { printDiagnostics, readBlueprintFile } from './blueprint-file.ts';
import { EXIT } from './exit-codes.ts';
import { jsonLines, type Output } from './terminal.ts';

const HELP = `mwe validate FILE [--json]

Checks a blueprint against the language. Nothing is connected, so whether tools exist is not told: the endpoint's
validate_workflow does that.

  --json   the diagnostics as JSON on stdout
  --help

Exit code 0 without errors (warnings are allowed), 3 with errors.`;

export async function runValidate(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = readArguments(args, { json: { type: 'boolean' } });
  if (values.help === true) {
    output.out(HELP);
    return EXIT.ok;
  }
  const file = onlyPositional(positionals, 'FILE');
  // A file may be one that ships with a deployment.
  const { diagnostics } = validateBlueprint(await readBlueprintFile(file), { stackOwned: true });
  const errors = diagnostics.filter((d) => d.severity === 'error').length;
  if (values.json === true) output.out(jsonLines({ valid: errors === 0, diagnostics }));
  else {
    printDiagnostics(diagnostics, output);
    const warnings = diagnostics.length - errors;
    output.out(`${file}: ${errors === 0 ? 'valid' : 'not valid'} (${errors} errors, ${warnings} warnings)`);
  }
  return errors === 0 ? EXIT.ok : EXIT.invalid;
}
