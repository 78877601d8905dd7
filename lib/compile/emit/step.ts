/** A step to its states, by its planned shape; a list of steps one after another. */
import type { PlannedStep } from '../plan/plan.ts';
import { emitBatchLoop } from './batch-loop.ts';
import { emitCall } from './call.ts';
import { emitChain } from './chain.ts';
import { emitLanes } from './lanes.ts';
import { emitMapLoop } from './map-loop.ts';
import { emitParallel } from './parallel.ts';
import type { Scope } from './scope.ts';
import { emitSubWorkflow } from './sub-workflow.ts';
import { emitWhileLoop } from './while-loop.ts';

/** Writes a list's states; the last step leads to `next`. */
export function emitList(scope: Scope, steps: readonly PlannedStep[], next: string): void {
  for (const [i, step] of steps.entries()) emitStep(scope, step, steps[i + 1]?.entry ?? next);
}

function emitStep(scope: Scope, step: PlannedStep, next: string): void {
  switch (step.shape) {
    case 'call':
      emitCall(scope, step, next);
      break;
    case 'batch-loop':
      emitBatchLoop(scope, step, next);
      break;
    case 'lanes':
      emitLanes(scope, step, next);
      break;
    case 'map-loop':
      emitMapLoop(scope, step, next);
      break;
    case 'while-loop':
      emitWhileLoop(scope, step, next);
      break;
    case 'sub-workflow':
      emitSubWorkflow(scope, step, next);
      break;
    case 'parallel':
      emitParallel(scope, step, next);
      break;
    case 'chain':
      emitChain(scope, step, next);
      break;
  }
}
