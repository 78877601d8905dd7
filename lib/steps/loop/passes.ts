/** `while`: whether another pass follows. It is looked at after each pass; a failed pass ends the loop. */
import { StepFailure } from '../../blueprint/errors.ts';
import type { LoopNode } from '../../compile/program.ts';
import type { ItemResult } from '../../store/records.ts';
import { type Frame, scopeFor } from '../frame.ts';
import { holds } from '../templates.ts';

/** True where another pass follows. Throws LimitExceeded where it would be one more than `max`, TemplateError. */
export function goesOn(node: LoopNode, frame: Frame, pass: ItemResult): boolean {
  if (node.while === undefined) throw new Error(`the loop "${node.id}" has no while`);
  if (pass.status === 'failed') return false;
  const scope = scopeFor(frame, node.uses, { output: pass.value, index: pass.index });
  if (!holds(node.while, scope, node.id, 'while')) return false;
  if (pass.index + 1 < node.limit) return true;
  throw new StepFailure(
    'LimitExceeded',
    `step "${node.id}": while still holds after ${node.limit} passes, which is its max`,
  );
}
