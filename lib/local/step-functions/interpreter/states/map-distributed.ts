/**
 * A distributed Map: every item is an execution of its own under a Map Run, started through the host. Children see no
 * variable of the parent. The result has the outputs of the children that succeeded, in order. Nothing of this is in the
 * recordings that the project has, so it follows the documentation and what others saw AWS do.
 * Source: developer guide, "Using Map state in Distributed mode", "Setting failure thresholds", "Redriving Map Runs".
 */
import type { ItemProcessor, MapState, StateMachine } from '../../../../asl/types.ts';
import type { Json } from '../../../../blueprint/json.ts';
import type { ChildNode, MapRunNode } from '../checkpoint.ts';
import { evaluate } from '../evaluate.ts';
import { childController, type Execution, record, type Visit } from '../execution.ts';
import { resultTooLarge } from '../exit.ts';
import { errorDetails, Interrupted, STATES, StateError } from '../failure.ts';
import { uuid } from '../functions.ts';
import { exceedsPayload } from '../json-text.ts';

/** What MaxConcurrency 0 comes to. */
const MAX_DISTRIBUTED_CONCURRENCY = 10_000;
const MAX_LABEL = 40;

export interface Tolerance {
  count: number | undefined;
  percentage: number | undefined;
}

export async function runDistributed(
  visit: Visit<MapState>,
  items: Json[],
  concurrency: number,
  tolerance: Tolerance,
): Promise<Json[]> {
  const { lane } = visit;
  const node = openMapRun(visit, items);
  const started = lane.previous;
  try {
    await runChildren(visit, node, concurrency === 0 ? MAX_DISTRIBUTED_CONCURRENCY : concurrency, tolerance);
    const results = node.children.flatMap((child) =>
      child !== null && 'output' in child ? [child.output] : [],
    );
    if (exceedsPayload(results)) throw resultTooLarge(visit.name);
    record(lane, 'MapRunSucceeded');
    record(lane, 'MapStateSucceeded');
    lane.previous = started;
    return results;
  } catch (failure) {
    if (failure instanceof StateError && !failure.fatal) {
      record(lane, 'MapRunFailed', ['mapRunFailedEventDetails', errorDetails(failure)]);
    }
    throw failure;
  }
}

/** Starts the Map Run, or takes up the one that the checkpoint has. */
function openMapRun(visit: Visit<MapState>, items: Json[]): MapRunNode {
  const { lane, execution } = visit;
  let node = visit.resume?.kind === 'mapRun' ? visit.resume : undefined;
  if (node === undefined) {
    const started = record(lane, 'MapStateStarted', [
      'mapStateStartedEventDetails',
      { length: items.length },
    ]);
    const mapRunArn = mapRunArnOf(visit);
    node = {
      kind: 'mapRun',
      started,
      mapRunArn,
      redriveCount: 0,
      items,
      children: items.map(() => null),
    } satisfies MapRunNode;
    record(lane, 'MapRunStarted', ['mapRunStartedEventDetails', { mapRunArn }]);
  } else {
    node.redriveCount += 1;
    const { mapRunArn, redriveCount } = node;
    record(lane, 'MapRunRedriven', ['mapRunRedrivenEventDetails', { mapRunArn, redriveCount }], node.started);
  }
  lane.node.inner = node;
  execution.moved();
  return node;
}

async function runChildren(
  visit: Visit<MapState>,
  node: MapRunNode,
  concurrency: number,
  tolerance: Tolerance,
): Promise<void> {
  const { controller, release } = childController(visit.lane.signal);
  let next = 0;
  let failed = 0;
  let failure: unknown;

  const worker = async (): Promise<void> => {
    while (failure === undefined && !controller.signal.aborted) {
      while (next < node.children.length && isDone(node.children[next])) next += 1;
      if (next >= node.children.length) return;
      const index = next;
      next += 1;
      if (await runChild(visit, node, index, controller.signal)) continue;
      failed += 1;
      if (exceeds(failed, node.children.length, tolerance)) {
        throw new StateError(STATES.TOLERANCE, 'The specified tolerated failure threshold was exceeded');
      }
    }
  };
  const guarded = () =>
    worker().catch((error: unknown) => {
      failure ??= error;
      controller.abort(new Interrupted());
    });

  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, node.children.length) }, guarded));
  } finally {
    release();
  }
  if (visit.lane.signal.aborted) throw new Interrupted();
  if (failure !== undefined) throw failure;
}

/** @returns true where the child succeeded */
async function runChild(
  visit: Visit<MapState>,
  node: MapRunNode,
  index: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { execution, state } = visit;
  const { host } = execution;
  const known = node.children[index];
  const again = known !== null && known !== undefined && 'name' in known ? known : undefined;
  const value = node.items[index] ?? null;
  const input =
    state.ItemSelector === undefined
      ? value
      : await evaluate(visit, state.ItemSelector, 'ItemSelector', {
          mapItem: { Index: index, Value: value },
        });
  const child: { name: string; arn?: string } = again ?? { name: uuid(host) };
  node.children[index] = child;
  const request: Parameters<typeof host.runMapChild>[0] = {
    mapRunArn: node.mapRunArn,
    name: child.name,
    definition: childMachine(execution, state.ItemProcessor),
    input,
    type: executionType(state.ItemProcessor),
    signal,
  };
  if (child.arn !== undefined) request.resumeArn = child.arn;
  // Waited for even when it is cut off, which it then ends by at once: a redrive needs to know which execution it was.
  const { executionArn, outcome } = await host.runMapChild(request);
  if (outcome.status === 'SUCCEEDED') {
    node.children[index] = { output: outcome.output };
    execution.moved();
    return true;
  }
  child.arn = executionArn;
  if (signal.aborted) throw new Interrupted();
  return false;
}

function exceeds(failed: number, total: number, { count, percentage }: Tolerance): boolean {
  if (count === undefined && percentage === undefined) return true;
  if (count !== undefined && failed > count) return true;
  return percentage !== undefined && (failed / total) * 100 > percentage;
}

function isDone(child: ChildNode | undefined): boolean {
  return child !== undefined && child !== null && 'output' in child;
}

const machines = new WeakMap<ItemProcessor, StateMachine>();

/** The children's definition: one object a Map state, so that what is kept by identity is kept once. */
function childMachine(execution: Execution, processor: ItemProcessor): StateMachine {
  let machine = machines.get(processor);
  if (machine === undefined) {
    machine = { StartAt: processor.StartAt, States: processor.States };
    if (execution.machine.QueryLanguage !== undefined)
      machine.QueryLanguage = execution.machine.QueryLanguage;
    machines.set(processor, machine);
  }
  return machine;
}

function executionType(processor: ItemProcessor): 'STANDARD' | 'EXPRESS' {
  const config = processor.ProcessorConfig;
  return config?.Mode === 'DISTRIBUTED' ? config.ExecutionType : 'STANDARD';
}

/** `arn:aws:states:REGION:ACCOUNT:mapRun:MACHINE/LABEL:UUID` */
function mapRunArnOf(visit: Visit<MapState>): string {
  const { start, host } = visit.execution;
  const [arn, partition, , region, account] = start.executionArn.split(':');
  const label = visit.state.Label ?? visit.name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_LABEL);
  return `${arn}:${partition}:states:${region}:${account}:mapRun:${start.stateMachineName}/${label}:${uuid(host)}`;
}
