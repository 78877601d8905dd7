/** Small blueprints for the scenarios, over the servers that ship: `filesystem` sees call-tool's own asset. */
import type { JsonObject } from '../../lib/blueprint/json.ts';

const step = (
  id: string,
  tool: string,
  params: JsonObject,
  parse: string,
  more: JsonObject = {},
): JsonObject => ({
  id,
  type: 'call',
  tool: `filesystem/${tool}`,
  params,
  parse,
  ...more,
});

/** Lists a folder: a call that is over soon. */
export const listing = (id = 'entries', path = '{{ params.path }}'): JsonObject =>
  step(id, 'list_directory', { path }, 'lines');

/** Reads a file that is there whole; the function's bundle is large. */
export const reading = (id: string, path: string, more: JsonObject = {}): JsonObject =>
  step(id, 'read_text_file', { path }, 'text', more);

const PATH: JsonObject = { type: 'string', default: '.' };

/** One call and its output. */
export function oneCall(id: string, more: JsonObject = {}): JsonObject {
  return {
    id,
    description: 'Lists a folder',
    params: { path: PATH },
    steps: [listing()],
    output: { entries: '{{ length(steps.entries) }}', path: '{{ params.path }}' },
    ...more,
  };
}

/** Fails, waits, and tries again: for as long as a scenario needs a run that goes on. */
export function longRun(id: string): JsonObject {
  return {
    id,
    params: { path: { type: 'string', default: 'not-there' } },
    steps: [
      reading('wait', '{{ params.path }}', {
        errorStrategy: { onStepFailure: 'abort', maxRetries: 5, retryDelayMs: 30_000, jitter: false },
      }),
    ],
  };
}

/** A parent whose one step is another workflow. */
export function parentOf(id: string, child: string, params: JsonObject = {}): JsonObject {
  return {
    id,
    params: { path: PATH },
    steps: [{ id: 'child', type: 'call', workflow: child, params: { path: '{{ params.path }}', ...params } }],
    output: { child: '{{ steps.child }}' },
  };
}

/** A map loop over paths: inline with few items, distributed where it may have many. */
export function mapOver(id: string, maxItems: number, step = listing('entries', '{{ path }}')): JsonObject {
  return {
    id,
    params: { paths: { type: 'array', default: ['.', 'servers'] } },
    steps: [
      {
        id: 'each',
        type: 'loop',
        mode: 'map',
        over: '{{ params.paths }}',
        maxItems,
        as: 'path',
        concurrency: 2,
        do: step,
      },
    ],
    output: { counts: '{{ steps.each[*].length(@) }}' },
  };
}
