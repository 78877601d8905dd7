/** `mwe compile FILE`: the state machine, as it would be deployed. */
import { documentHash } from '../blueprint/canonical.ts';
import { compileDocument } from '../compile/compile.ts';
import { validateBlueprint } from '../compile/validate.ts';
import { onlyPositional, readArguments } from './arguments.ts';
import { printDiagnostics, readBlueprintFile } from './blueprint-file.ts';
import { EXIT } from './exit-codes.ts';
import { LOCAL_FUNCTIONS } from './local-names.ts';
import { jsonLines, type Output } from './terminal.ts';

const HELP = `mwe compile FILE [--function ARN] [--estimate]

Prints the compiled state machine (Amazon States Language) on stdout.

  --function ARN   the call-tool function; default: the local engine's
  --estimate       instead of the machine, what a run costs in transitions, events and invocations
  --help`;

export async function runCompile(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = readArguments(args, {
    function: { type: 'string' },
    estimate: { type: 'boolean' },
  });
  if (values.help === true) {
    output.out(HELP);
    return EXIT.ok;
  }
  const { blueprint, diagnostics } = validateBlueprint(
    await readBlueprintFile(onlyPositional(positionals, 'FILE')),
    // A file may be one that ships with a deployment.
    { stackOwned: true },
  );
  if (blueprint === undefined || diagnostics.some((d) => d.severity === 'error')) {
    printDiagnostics(diagnostics, output);
    return EXIT.invalid;
  }
  const document = { abi: 1 as const, blueprint, tools: {}, workflows: {} };
  const compiled = compileDocument(document, documentHash(document), {
    callToolArn: String(values.function ?? LOCAL_FUNCTIONS.callToolArn),
    functionTimeoutSeconds: LOCAL_FUNCTIONS.timeoutSeconds,
  });
  printDiagnostics(compiled.diagnostics, output);
  if (compiled.diagnostics.some((d) => d.severity === 'error')) return EXIT.invalid;
  const shown = values.estimate === true ? compiled.estimate : compiled.definition;
  output.out(jsonLines(shown));
  return EXIT.ok;
}
