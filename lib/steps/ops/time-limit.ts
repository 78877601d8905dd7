/** The time limit of a container of states: what a step inside it that failed past it means for the container. */
import { type StepError, StepFailure } from '../../blueprint/errors.ts';
import type { StepNode } from '../../compile/program.ts';
import type { StepWork } from '../step-work.ts';

/** The container's own time limit ended what is inside: then its strategy has nothing to go on with. */
export function endedByLimit({ record, work }: StepWork, error: StepError | null | undefined): boolean {
  return (
    error?.kind === 'LimitExceeded' &&
    record.deadline !== undefined &&
    work.env.clock.now() >= record.deadline
  );
}

/** The container's own failure. */
export function timeIsUp(node: StepNode): StepFailure {
  return new StepFailure(
    'LimitExceeded',
    `step "${node.id}" reached its time limit of ${(node.timeoutMs ?? 0) / 1000} s`,
  );
}
