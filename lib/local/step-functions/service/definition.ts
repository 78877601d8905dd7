/**
 * A definition at the door of CreateStateMachine and UpdateStateMachine: refused with AWS's `InvalidDefinition`, which
 * strings all errors together.
 */

import { ApiError } from '../../api-error.ts';
import type { Diagnostic } from '../validate/diagnostic.ts';
import { validateDefinition } from '../validate/validate.ts';

/** Throws `InvalidDefinition`. */
export function checkDefinition(text: string, type: 'STANDARD' | 'EXPRESS'): void {
  const errors = validateDefinition(text, type).filter((each) => each.severity === 'ERROR');
  if (errors.length === 0) return;
  throw new ApiError(
    'InvalidDefinition',
    `Invalid State Machine Definition: '${errors.map(sentence).join(', ')}'`,
  );
}

/** `null` is what AWS writes where a diagnostic has no location. */
function sentence(diagnostic: Diagnostic): string {
  return `${diagnostic.code}: ${diagnostic.message} at ${diagnostic.location ?? 'null'}`;
}
