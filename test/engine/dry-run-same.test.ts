/**
 * A dry run means what a run means: where every tool is read-only and no loop is longer than what is walked, it comes to the
 * same output, the same failure and the same calls.
 */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint } from '../../lib/blueprint/types.ts';
import { arbitraryBlueprint } from '../compile/arbitrary-blueprint.ts';
import { type RunningEngine, startRunningEngine } from '../running-engine.ts';

let engine: RunningEngine;

beforeAll(async () => {
  const server = join(import.meta.dirname, 'fixtures', 'read-only-server.mjs');
  engine = await startRunningEngine({ tools: { command: 'node', args: [server], trustAnnotations: true } });
});
afterAll(() => engine.end());

const call = async (tool: string, args: JsonObject): Promise<JsonObject> => {
  const { answer, isError } = await engine.agent.call(tool, args);
  expect(isError, JSON.stringify(answer)).toBe(false);
  return answer;
};

/** With an output that shows what became of every top-level step. */
function observed(blueprint: Blueprint, id: string): JsonObject {
  const output = blueprint.steps.map((step) => ({
    id: step.id,
    value: `{{ steps.${step.id} }}`,
    status: `{{ results.${step.id}.status }}`,
    error: `{{ results.${step.id}.error.kind }}`,
  }));
  return { ...blueprint, id, output } as unknown as JsonObject;
}

let count = 0;

it('a dry run and a run come to the same', async () => {
  const blueprints = arbitraryBlueprint({ maxDepth: 2, maxSteps: 4, maxItems: 3 });
  await fc.assert(
    fc.asyncProperty(blueprints, async (random) => {
      count += 1;
      const id = `same-${count}`;
      const saved = await engine.agent.call('create_workflow', { blueprint: observed(random, id) });
      // What a reference makes invalid (a step that has not run by then) is another test's matter.
      fc.pre(!saved.isError);
      const params: JsonObject = random.params?.n === undefined ? {} : { n: 7 };
      const dry = await call('run_workflow', { id, params, dryRun: true });
      fc.pre(Number(dry.calls) < 40 && dry.omitted === undefined);
      const run = await call('run_workflow', { id, params, wait: 50 });

      const steps = dry.steps as JsonObject[];
      expect(steps.filter((step) => step.status === 'not-called')).toEqual([]);
      expect(dry.error === undefined).toBe(run.status === 'SUCCEEDED');
      if (run.status === 'SUCCEEDED') {
        if (JSON.stringify(run.output).length < 4000) expect(dry.output).toEqual(run.output);
      } else {
        const kinds = (run.errors as JsonObject[]).map((error) => error.kind as Json);
        expect(kinds).toContain((dry.error as JsonObject).kind);
      }
    }),
    { numRuns: 10 },
  );
}, 60_000);
