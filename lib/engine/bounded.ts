/** Answers stay short whatever they are about: an agent pays for every token of them, and a function answers 6 MB at most. */
import type { Diagnostic } from '../blueprint/diagnostics.ts';
import type { Json, JsonObject } from '../blueprint/json.ts';
import { bytesOf, sampleOf } from '../steps/sample.ts';

const SAMPLE_BYTES = 2048;
const MAX_DIAGNOSTICS = 50;

/** What is said of a value that is too large for an answer. */
export interface Summary extends JsonObject {
  bytes: number;
  /** The value, cut; what is cut says so. */
  sample: Json;
}

/** Undefined where the value has at most `maxBytes`. */
export function summaryOf(value: Json, maxBytes: number): Summary | undefined {
  const bytes = bytesOf(value);
  return bytes <= maxBytes ? undefined : { bytes, sample: sampleOf(value, SAMPLE_BYTES) };
}

/** A diagnostic in an answer. */
export type ShownDiagnostic = Pick<Diagnostic, keyof Diagnostic>;

/** The first diagnostics of a severity, as an answer holds them; `Count` tells of more. */
export function shownDiagnostics<Severity extends Diagnostic['severity']>(
  diagnostics: readonly Diagnostic[],
  severity: Severity,
): { [K in `${Severity}s`]: ShownDiagnostic[] } & { [K in `${Severity}Count`]?: number } {
  const all = diagnostics.filter((each) => each.severity === severity);
  const count = all.length > MAX_DIAGNOSTICS ? { [`${severity}Count`]: all.length } : {};
  return { [`${severity}s`]: all.slice(0, MAX_DIAGNOSTICS), ...count } as ReturnType<
    typeof shownDiagnostics<Severity>
  >;
}
