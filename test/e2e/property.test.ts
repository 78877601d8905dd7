/**
 * Any valid blueprint, run for real, ends as the reference model says: every status, every value, every error, every call.
 *
 * E2E_RUNS and E2E_SEED set how many blueprints, and which. The seed of a failure is in its report.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import { arbitraryBlueprint, type BlueprintOptions } from '../compile/arbitrary-blueprint.ts';
import { createAct, sorted } from '../fixtures/act.mjs';
import { around, equip, stepsIn } from './equip.ts';
import { call, type Lab, startLab } from './lab.ts';
import { type Prediction, predict } from './model.ts';

const RUNS = Number(process.env.E2E_RUNS ?? 16);
const FEW = Math.ceil(RUNS / 4);
const TIMEOUT_MS = 30_000 + RUNS * 5000;
const MOST_REDRIVES = 60;
const SEED = Number(process.env.E2E_SEED ?? Date.now() % 1_000_000);

let lab: Lab;
let count = 0;
beforeAll(async () => {
  lab = await startLab();
  const act = (behaviour: string) => call('act', 'act', { behaviour, run: '{{ run.id }}', key: 'child' });
  for (const [id, behaviour] of Object.entries({
    'child-ok': 'plain',
    'child-bad': 'fail',
    'child-flaky': 'flaky',
  })) {
    await lab.save({ id, steps: [act(behaviour)], output: { child: id } });
  }
});
afterAll(() => lab.end());

const BEHAVIOURS = ['plain', 'plain', 'more', 'fail', 'odd', 'flaky', 'null', 'bad'];

/** What was seen, in the terms of the prediction, with what is loose in it set aside. */
async function observe(
  runId: string,
  { status, output, errors }: Awaited<ReturnType<Lab['run']>>,
  { loose, statuses: said }: Prediction,
) {
  const records = await lab.steps(runId);
  const isLoose = (path: string) => loose.some((loop) => path.startsWith(`${loop}/`));
  const statuses = [...records]
    .filter(([at, { reason }]) => reason !== 'halted' || (said.has(at) && !isLoose(at)))
    .map(
      ([at, record]) =>
        [
          at,
          String(record.reason ?? '').startsWith('failed:') ? 'skipped failed' : String(record.status),
        ] as const,
    );
  const calls = lab.calls({ run: runId }).map(({ args: { run: _, ...args } }) => args as JsonObject);
  return {
    status,
    output: withoutCounts(output),
    statuses,
    errors: errors.map(({ path, kind }) => `${path} ${kind}`),
    calls,
    isLoose,
  };
}

/** How far an aborted loop came is open, so its counts are too. */
function withoutCounts(output: Json | undefined): Json | undefined {
  if (output === undefined || output === null) return output;
  return Object.fromEntries(
    Object.entries(output as JsonObject).map(([id, told]) => {
      const [value, status, ...counts] = told as Json[];
      return [id, [value ?? null, status ?? null, ...(status === 'failed' ? [] : counts)]];
    }),
  );
}

const children = (workflow: string) =>
  workflow === 'child-bad' ? { error: 'it fails' } : { value: { child: workflow } };

it.each<[string, BlueprintOptions, number]>([
  ['tool calls', { maxSteps: 5 }, RUNS],
  ['sub-workflows', { maxSteps: 3, workflows: ['child-ok', 'child-bad'] }, FEW],
])(
  `a blueprint of %s ends as the model says (seed ${SEED})`,
  { timeout: TIMEOUT_MS },
  async (_, options, numRuns) => {
    await fc.assert(
      fc.asyncProperty(arbitraryBlueprint({ maxDepth: 2, ...options }), fc.nat(), async (shape, seed) => {
        count += 1;
        const blueprint = { ...equip(shape, seed, BEHAVIOURS), id: `random-${count}` };
        const said = predict(blueprint, createAct(), children);
        const run = await lab.run(blueprint as unknown as JsonObject);
        const seen = await observe(run.runId, run, said);
        const { isLoose } = seen;

        expect({ status: seen.status, output: seen.output }).toEqual({
          status: said.status,
          output: withoutCounts(said.output),
        });
        const firm = (path: string) => !isLoose(path);
        expect(seen.errors.filter(firm).sort()).toEqual(said.errors.filter(firm).sort());
        for (const error of seen.errors.filter(isLoose)) expect(said.errors).toContain(error);
        for (const loop of said.loose.filter(firm)) {
          expect(seen.errors.filter((error) => error.startsWith(`${loop}/`)).length).toBeGreaterThan(0);
        }

        for (const [at, status] of seen.statuses) {
          // A container without an entry of its own is skipped by what its steps meet.
          const inside =
            status === 'skipped failed' &&
            around(blueprint.steps, at).some((path) => said.statuses.get(path) === status);
          if (!inside) expect([at, said.statuses.get(at)]).toEqual([at, status]);
        }
        const recorded = new Map(seen.statuses);
        for (const [at, status] of said.statuses) {
          if (!at.includes('/')) expect([at, recorded.get(at)]).toEqual([at, status]);
        }

        const open = new Set(said.loose.map((loop) => loop.split('/').at(-1)));
        const steps = new Set(stepsIn(blueprint.steps, open).map(({ id }) => id));
        const firmCalls = (calls: JsonObject[]) =>
          withoutRun(calls.filter(({ key }) => !steps.has(String((key as Json[])[0]))));
        expect(firmCalls(seen.calls)).toEqual(firmCalls(said.calls));
      }),
      {
        numRuns,
        seed: SEED,
        ...(process.env.E2E_PATH === undefined ? {} : { path: process.env.E2E_PATH }),
        endOnFailure: process.env.E2E_SHRINK === undefined,
      },
    );
  },
);

it.each<[string, BlueprintOptions]>([
  ['tool calls', { maxSteps: 4 }],
  ['sub-workflows', { maxSteps: 2, workflows: ['child-flaky'] }],
])(
  `redrives bring a blueprint of %s to the end that it has without failures (seed ${SEED})`,
  {
    timeout: TIMEOUT_MS,
  },
  async (_, options) => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryBlueprint({ maxDepth: 2, failing: false, ...options }),
        fc.nat(),
        async (shape, seed) => {
          count += 1;
          const blueprint = { ...equip(shape, seed, ['plain', 'flaky', 'null']), id: `redriven-${count}` };
          // The tool that has failed once for every key already.
          const act = createAct();
          const said = predict(
            blueprint,
            (args) => {
              const first = act(args);
              return 'error' in first ? act(args) : first;
            },
            children,
          );
          let run = await lab.run(blueprint as unknown as JsonObject);
          for (let times = 0; run.status === 'FAILED' && times < MOST_REDRIVES; times += 1) {
            await lab.redrive(run.runId);
            run = await lab.executed(run.runId);
          }
          const { status, output, errors } = run;
          expect({ status, output, errors }).toEqual({
            status: 'SUCCEEDED',
            output: said.output,
            errors: [],
          });
          const expected = said.calls.flatMap((args) => (args.behaviour === 'flaky' ? [args, args] : [args]));
          expect(withoutRun(lab.calls({ run: run.runId }).map(({ args }) => args))).toEqual(
            withoutRun(expected),
          );
        },
      ),
      { numRuns: FEW, seed: SEED, endOnFailure: true },
    );
  },
);

function withoutRun(calls: readonly JsonObject[]): string[] {
  return calls.map(({ run: _, ...args }) => sorted(args)).sort();
}
