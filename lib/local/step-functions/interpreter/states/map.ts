/** Map: what both kinds share, the items and how many run at once. The kinds are map-inline.ts and map-distributed.ts. */
import type { MapState } from '../../../../asl/types.ts';
import type { Json } from '../../../../blueprint/json.ts';
import { evaluate, evaluateNumber, evaluationFailed, unexpectedType } from '../evaluate.ts';
import type { Transition, Visit } from '../execution.ts';
import { leaveState } from '../exit.ts';
import { STATES, StateError } from '../failure.ts';
import { withRetryAndCatch } from '../retry.ts';
import { runDistributed } from './map-distributed.ts';
import { runInline } from './map-inline.ts';

/** Fields of the design's "as far as our compiler emits them" that are not run here. */
const UNSUPPORTED = ['ItemReader', 'ItemBatcher', 'ResultWriter'] as const;

export function runMap(visit: Visit<MapState>): Promise<Transition> {
  const { state } = visit;
  const distributed = state.ItemProcessor.ProcessorConfig?.Mode === 'DISTRIBUTED';
  return withRetryAndCatch(visit, state, async () => {
    const results = await iterations(visit, distributed);
    return leaveState(visit, state, results, { result: results });
  });
}

async function iterations(visit: Visit<MapState>, distributed: boolean): Promise<Json[]> {
  const { state } = visit;
  for (const field of UNSUPPORTED) {
    if (state[field] !== undefined) {
      throw new StateError(
        STATES.RUNTIME,
        `The Map state '${visit.name}' uses ${field}, which the local Step Functions does not run.`,
      );
    }
  }
  const items = visit.resume?.kind === 'mapRun' ? visit.resume.items : await itemsOf(visit);
  const concurrency = (await evaluateNumber(visit, state.MaxConcurrency, 'MaxConcurrency')) ?? 0;
  if (!Number.isInteger(concurrency) || concurrency < 0) {
    throw evaluationFailed(
      visit,
      `The MaxConcurrency field must be a non-negative integer but was: ${concurrency}`,
      'MaxConcurrency',
    );
  }
  const tolerated = {
    count: await evaluateNumber(visit, state.ToleratedFailureCount, 'ToleratedFailureCount'),
    percentage: await evaluateNumber(visit, state.ToleratedFailurePercentage, 'ToleratedFailurePercentage'),
  };
  return distributed
    ? runDistributed(visit, items, concurrency, tolerated)
    : runInline(visit, items, concurrency);
}

async function itemsOf(visit: Visit<MapState>): Promise<Json[]> {
  const { Items } = visit.state;
  if (Items !== undefined) {
    const items = await evaluate(visit, Items, 'Items');
    if (!Array.isArray(items)) throw unexpectedType(visit, Items, 'Items', 'array', items);
    return items;
  }
  if (Array.isArray(visit.input)) return visit.input;
  throw evaluationFailed(visit, `Map state input must be an array but was: ${JSON.stringify(visit.input)}`);
}
