/**
 * Blueprint → state machine.
 *
 *     blueprint (authored JSON)
 *        │  validate   validate.ts     when it is saved: shape, names, templates, references; refused with diagnostics
 *        ▼
 *     document (the blueprint and what saving resolved: each tool's server, each sub-workflow's revision; its hash)
 *        │  1 parse    parse.ts        defaults filled, templates parsed, strategies inherited      → Program
 *        │  2 plan     plan/           which states each step takes, where failures lead, which
 *        │                             maps are distributed so that a history holds the run         → Plan
 *        │  3 emit     emit/           the plan written down                                         → StateMachine
 *        │  4 write    below           compact JSON, at most 1 MiB
 *        │  5 estimate estimate.ts     what a run costs                                              → Estimate
 *        ▼
 *     definition
 *
 * Each phase reads only what the one before made, all are pure, and none changes what it is given. The same document,
 * hash and target give the same text to the last byte: a saved machine is compared by its text.
 *
 * A limit of Step Functions that cannot be kept is a diagnostic, not an exception; then the definition must not be used.
 */
import { MAX_DEFINITION_BYTES } from '../asl/limits.ts';
import type { StateMachine } from '../asl/types.ts';
import { type Diagnostic, diagnostic } from '../blueprint/diagnostics.ts';
import type { BlueprintDocument } from '../blueprint/types.ts';
import { emitMachine } from './emit/emit-machine.ts';
import { type Estimate, estimateRun } from './estimate.ts';
import { parseProgram } from './parse.ts';
import type { CompileTarget } from './plan/plan.ts';
import { planMachine } from './plan/plan-machine.ts';

export type { CompileTarget } from './plan/plan.ts';

export interface Compiled {
  definition: StateMachine;
  /** The definition as it is sent to Step Functions. */
  text: string;
  estimate: Estimate;
  /** Errors only: the limits that the machine would not keep. Empty for a machine that may be used. */
  diagnostics: Diagnostic[];
}

/**
 * Compiles a document.
 * @param document a valid blueprint with its bindings; `validateBlueprint` decides what is valid.
 * @param hash SHA-256 of the document's canonical JSON, hex.
 */
export function compileDocument(document: BlueprintDocument, hash: string, target: CompileTarget): Compiled {
  // 1. Parse
  const program = parseProgram(document.blueprint);

  // 2. Plan
  const plan = planMachine(program, document, hash, target);

  // 3. Emit
  const definition = emitMachine(plan);

  // 4. Write
  const text = JSON.stringify(definition);

  // 5. Estimate
  const estimate = estimateRun(plan);

  return { definition, text, estimate, diagnostics: [...plan.diagnostics, ...tooLarge(text)] };
}

/** Source: Step Functions developer guide, "Service quotas": a definition is at most 1 MB. */
function tooLarge(text: string): Diagnostic[] {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_DEFINITION_BYTES) return [];
  return [
    diagnostic('BP902', '', {
      message: `its state machine would have ${bytes} bytes, and Step Functions takes ${MAX_DEFINITION_BYTES}`,
      got: `${bytes} bytes`,
      expected: `at most ${MAX_DEFINITION_BYTES}`,
      hint: 'use a loop for what repeats, or move part of the steps into a sub-workflow',
    }),
  ];
}
