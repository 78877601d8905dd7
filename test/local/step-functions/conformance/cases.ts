/** The cases of the conformance data, read from the folder that ASL_CONFORMANCE names. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { StateMachine } from '../../../../lib/asl/types.ts';
import type { Json, JsonObject } from '../../../../lib/blueprint/json.ts';

export interface LambdaFixture {
  behaviour: 'echo' | 'return' | 'throw';
  value?: Json;
  errorType?: string;
  errorMessage?: string;
  stackTrace?: string[];
}

export interface RecordedEvent extends JsonObject {
  type: string;
  id: number;
  previousEventId: number;
}

export interface RecordedCase {
  /** Path below the folder, without `.json`. */
  file: string;
  id: string;
  type: 'STANDARD' | 'EXPRESS';
  definition: StateMachine;
  input: Json;
  lambdas: Record<string, LambdaFixture>;
  expect: { status: string; output?: Json; error?: string; cause?: Json; events?: RecordedEvent[] };
  eventOrder: 'deterministic' | 'one-recorded-interleaving' | 'parallel-sections-sorted';
  /** JSON pointers into `expect`. */
  volatile: string[];
}

/** The folder, or undefined where the variable is not set: then the suite is skipped. */
export const conformanceFolder = process.env.ASL_CONFORMANCE;

/** Every case that AWS ran: those with a status. */
export function executedCases(folder: string): RecordedCase[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      const file = relative('.', name).replace(/\.json$/, '');
      return { file, ...(JSON.parse(text) as Omit<RecordedCase, 'file'>) };
    })
    .filter((recorded) => typeof recorded.expect.status === 'string');
}
