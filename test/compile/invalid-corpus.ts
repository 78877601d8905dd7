/**
 * test/corpus/invalid: one file a case, `CODE-case.json`, with a blueprint and every diagnostic it gets. What is too large
 * to be written down is said by `repeat`. The expected diagnostics are rewritten by `rewriteInvalidCorpus`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentHash } from '../../lib/blueprint/canonical.ts';
import type { Diagnostic } from '../../lib/blueprint/diagnostics.ts';
import { childPointer } from '../../lib/blueprint/diagnostics.ts';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint, BlueprintDocument, ToolBinding } from '../../lib/blueprint/types.ts';
import { compileDocument } from '../../lib/compile/compile.ts';
import { type ToolInfo, validateBlueprint } from '../../lib/compile/validate.ts';

/** From the repository's root, where tests and scripts are started. */
const FOLDER = 'test/corpus/invalid';

export interface InvalidCase {
  /** What an author was about to do. */
  about: string;
  blueprint: Json;
  /** Replaces what is at the pointer: a text `times` over, or a list of `value` with `#` replaced by 0, 1, 2, ... */
  repeat?: { pointer: string; value: Json; times: number };
  environment?: {
    tools?: ToolInfo[];
    serverNames?: string[];
    unavailable?: { server: string }[];
    workflows?: Record<string, Blueprint>;
    /** What the steps of a workflow are bound to. */
    workflowTools?: Record<string, ToolBinding[]>;
    allowed?: string[];
    stackOwned?: boolean;
  };
  diagnostics: Diagnostic[];
}

/** Every case by file name without its ending. */
export function invalidCases(): [string, InvalidCase][] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => [
      name.replace(/\.json$/, ''),
      JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as InvalidCase,
    ]);
}

/** What saving would report: validation, and compiling where that found no error. */
export function diagnosticsOf(invalid: InvalidCase): Diagnostic[] {
  const { environment } = invalid;
  const { workflows = {}, workflowTools = {}, ...known } = environment ?? {};
  const { blueprint, diagnostics } = validateBlueprint(expandBlueprint(invalid), {
    ...known,
    workflows: (id) => {
      const found = workflows[id];
      return found && { blueprint: found, tools: workflowTools[id] ?? [] };
    },
  });
  if (blueprint === undefined) return diagnostics;
  const document: BlueprintDocument = { abi: 1, blueprint, tools: {}, workflows: {} };
  const compiled = compileDocument(document, documentHash(document), {
    callToolArn: 'arn:aws:lambda:us-east-1:000000000000:function:mwe-call-tool',
    functionTimeoutSeconds: 900,
  });
  return [...diagnostics, ...compiled.diagnostics];
}

/** The blueprint with its `repeat` carried out. */
export function expandBlueprint({ blueprint, repeat }: InvalidCase): Json {
  if (repeat === undefined) return blueprint;
  const { pointer, value, times } = repeat;
  const expanded =
    typeof value === 'string'
      ? value.repeat(times)
      : Array.from(
          { length: times },
          (_, i): Json => JSON.parse(JSON.stringify(value).replaceAll('#', String(i))),
        );
  return replaceAt(blueprint, '', pointer, expanded);
}

function replaceAt(value: Json, at: string, pointer: string, replacement: Json): Json {
  if (at === pointer) return replacement;
  if (Array.isArray(value)) {
    return value.map((item, i) => replaceAt(item, childPointer(at, i), pointer, replacement));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(
    entries.map(([k, v]) => [k, replaceAt(v, childPointer(at, k), pointer, replacement)]),
  );
}

/** Writes what each case gets now, for a reader to look at in the difference. How many files. */
export function rewriteInvalidCorpus(): number {
  const cases = invalidCases();
  for (const [name, invalid] of cases) {
    const text = JSON.stringify({ ...invalid, diagnostics: diagnosticsOf(invalid) }, null, 2);
    writeFileSync(join(FOLDER, `${name}.json`), `${text}\n`);
  }
  return cases.length;
}
