/** The folder of blueprints that ship with the stack, and what it says where one of them cannot. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompileTarget } from '../../lib/compile/compile.ts';
import { compileStackFolder, type FileFault, type StackDocument } from '../../lib/engine/stack-documents.ts';
import { SynthFault } from '../synth-fault.ts';

/** Where the call-tool ARN stands in a definition until CloudFormation puts it in (DefinitionSubstitutions). */
export const CALL_TOOL_KEY = 'CallToolArn';
const CALL_TOOL_PLACEHOLDER = `\${${CALL_TOOL_KEY}}`;

/**
 * Compiles every `*.json` of a folder, sub-workflows first.
 * @throws SynthFault with all faults of all files
 */
export function readBlueprints(folder: string, functionTimeoutSeconds: number): StackDocument[] {
  const compiled = compileStackFolder(filesOf(folder), targetOf(functionTimeoutSeconds));
  if ('documents' in compiled) return compiled.documents;
  const heading = `${folder}: blueprints that cannot be deployed:`;
  throw new SynthFault(heading, compiled.faults.map(fileText));
}

export function targetOf(functionTimeoutSeconds: number): CompileTarget {
  return { callToolArn: CALL_TOOL_PLACEHOLDER, functionTimeoutSeconds };
}

/**
 * Writes the documents into the asset of run-events, as `blueprints/<hash>.json`.
 * @param functionTimeoutSeconds of call-tool, for its limits are checked as well
 */
export function writeDocuments(folder: string, functionTimeoutSeconds: number, outFolder: string): void {
  const out = join(outFolder, 'blueprints');
  mkdirSync(out, { recursive: true });
  for (const { hash, document } of readBlueprints(folder, functionTimeoutSeconds)) {
    // Keys stay as the author wrote them; see lib/store/documents.ts.
    writeFileSync(join(out, `${hash}.json`), JSON.stringify(document));
  }
}

function filesOf(folder: string): { file: string; text: string }[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
      .map(({ name }) => ({ file: name, text: readFileSync(join(folder, name), 'utf8') }));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new SynthFault(`${folder}:`, [`the folder of blueprints cannot be read (${code})`]);
  }
}

/**
 *     sync.json
 *       steps/0/tool: "list_pods" names no server …
 *         write "SERVER/list_pods" …
 */
function fileText({ file, faults }: FileFault): string {
  const lines = faults.flatMap(({ code, message, hint }) => [
    `  ${code === undefined ? '' : `${code} `}${message}`,
    `    ${hint}`,
  ]);
  return [file, ...lines].join('\n');
}
