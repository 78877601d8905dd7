/**
 * Map runs: what a distributed map state started, as ListMapRuns and DescribeMapRun tell it.
 *
 * They are read off the parent's history events (MapRunStarted, MapRunRedriven and what ends them), because those say
 * everything that the service does. Counts are not kept: they are counted from the children when asked for.
 */
import { join } from 'node:path';
import { isJsonObject } from '../../../../blueprint/json.ts';
import type { HistoryEvent } from '../../contract.ts';
import { type LogWriter, readIfPresent, replaceFile } from './files.ts';

export interface MapRun {
  mapRunArn: string;
  executionArn: string;
  /** Of the parent, with the map state's label: `stateMachine:NAME/LABEL`. */
  stateMachineArn: string;
  status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'ABORTED';
  startDate: number;
  stopDate?: number;
  redriveCount: number;
  redriveDate?: number;
}

export interface MapRunStore {
  get(mapRunArn: string): MapRun | undefined;
  /** In order of starting. */
  ofExecution(executionArn: string): MapRun[];
  /** Looks at an event of an execution; `at` is epoch milliseconds. */
  observe(executionArn: string, stateMachineArn: string, event: HistoryEvent): void;
  /** The execution has ended or was found ended: whatever map run is open ends with it. */
  close(executionArn: string, at: number): void;
}

export async function openMapRunStore(dataDir: string, writer: LogWriter): Promise<MapRunStore> {
  const path = join(dataDir, 'map-runs.jsonl');
  const runs = new Map<string, MapRun>();
  const byExecution = new Map<string, Set<string>>();
  /** Which map run a MapRunStarted or MapRunRedriven event of an open execution speaks of, by event id. */
  const startedBy = new Map<string, Map<number, string>>();

  const lines = ((await readIfPresent(path)) ?? '').split('\n');
  for (const line of lines) {
    const run = parseLine(line);
    if (run !== undefined) keep(run);
  }
  if (lines.length > 2 * runs.size + 100) {
    await replaceFile(path, [...runs.values()].map((run) => `${JSON.stringify(run)}\n`).join(''));
  } else if (lines.at(-1) !== '') {
    writer.append(path, '\n');
  }

  function keep(run: MapRun): void {
    runs.set(run.mapRunArn, run);
    const set = byExecution.get(run.executionArn) ?? new Set();
    byExecution.set(run.executionArn, set.add(run.mapRunArn));
  }

  function save(run: MapRun): void {
    keep(run);
    writer.append(path, `${JSON.stringify(run)}\n`);
  }

  function end(arn: string | undefined, status: MapRun['status'], at: number): void {
    const run = arn === undefined ? undefined : runs.get(arn);
    if (run !== undefined && run.status === 'RUNNING') save({ ...run, status, stopDate: at });
  }

  return {
    get: (arn) => runs.get(arn),
    ofExecution: (executionArn) =>
      [...(byExecution.get(executionArn) ?? [])].flatMap((arn) => runs.get(arn) ?? []),

    observe(executionArn, stateMachineArn, event) {
      const at = Math.round(event.timestamp * 1000);
      switch (event.type) {
        case 'MapRunStarted':
        case 'MapRunRedriven': {
          const details = event.mapRunStartedEventDetails ?? event.mapRunRedrivenEventDetails;
          const arn = isJsonObject(details) ? details.mapRunArn : undefined;
          if (typeof arn !== 'string') return;
          const ids = startedBy.get(executionArn) ?? new Map<number, string>();
          startedBy.set(executionArn, ids.set(event.id, arn));
          const known = runs.get(arn);
          if (known === undefined) {
            const label = arn.split(':')[6]?.split('/')[1] ?? '';
            save({
              mapRunArn: arn,
              executionArn,
              stateMachineArn: `${stateMachineArn}/${label}`,
              status: 'RUNNING',
              startDate: at,
              redriveCount: 0,
            });
          } else {
            const { stopDate: _, ...rest } = known;
            save({ ...rest, status: 'RUNNING', redriveCount: known.redriveCount + 1, redriveDate: at });
          }
          return;
        }
        case 'MapRunSucceeded':
          end(startedBy.get(executionArn)?.get(event.previousEventId), 'SUCCEEDED', at);
          return;
        case 'MapRunFailed':
          end(startedBy.get(executionArn)?.get(event.previousEventId), 'FAILED', at);
          return;
        case 'MapRunAborted':
          end(startedBy.get(executionArn)?.get(event.previousEventId), 'ABORTED', at);
          return;
        default:
          return;
      }
    },

    close(executionArn, at) {
      startedBy.delete(executionArn);
      for (const arn of byExecution.get(executionArn) ?? []) end(arn, 'ABORTED', at);
    },
  };
}

function parseLine(line: string): MapRun | undefined {
  if (line === '') return undefined;
  try {
    return JSON.parse(line) as MapRun;
  } catch {
    return undefined; // a crash cut the last line short
  }
}
