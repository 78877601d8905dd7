/**
 * Any valid blueprint, run for real, ends as the reference model says: every status, every value, every error, every call.
 *
 * E2E_RUNS and E2E_SEED set how many blueprints, and which. The seed of a failure is in its report.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint, ErrorStrategy, Step } from '../../lib/blueprint/types.ts';
import { arbitraryBlueprint } from '../compile/arbitrary-blueprint.ts';
import { createAct, sorted } from '../fixtures/act.mjs';
import { type Lab, startLab } from './lab.ts';
import { type Prediction, predict } from './model.ts';

const RUNS = Number(process.env.E2E_RUNS ?? 25);
const SEED = Number(process.env.E2E_SEED ?? Date.now() % 1_000_000);

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.end());

const BEHAVIOURS = ['plain', 'plain', 'more', 'fail', 'odd', 'flaky', 'null', 'bad'];

/** Gives every call the tool `act` and a behaviour, every delay no time, and the run an output that tells of every step. */
function equip(blueprint: Blueprint, seed: number): Blueprint {
  const readable: Step[] = [];
  const quick = (strategy: ErrorStrategy | undefined) => strategy && { ...strategy, retryDelayMs: 0 };

  function equipStep(step: Step, loops: readonly Step[], piped: boolean): Step {
    if (!loops.length) readable.push(step);
    const strategy = quick(step.errorStrategy);
    const base = { ...step, ...(strategy === undefined ? {} : { errorStrategy: strategy }) };
    switch (base.type) {
      case 'call': {
        if (!('tool' in base)) return base;
        const whiles = loops.filter((loop) => loop.type === 'loop' && loop.while !== undefined).length;
        const choices = whiles > 1 ? BEHAVIOURS.filter((name) => name !== 'flaky') : BEHAVIOURS;
        const behaviour = choices[hash(`${seed} ${step.id}`) % choices.length] ?? 'plain';
        const items = loops.flatMap((loop) =>
          loop.type === 'loop' && loop.as !== undefined ? [`{{ ${loop.as} }}`] : [],
        );
        const key = [step.id, ...items, ...(loops.length > 0 ? ['{{ index }}'] : [])];
        const params: JsonObject = { ...base.params, run: '{{ run.id }}', key, behaviour };
        if (behaviour === 'bad') params.bad = /'(bad-\d+)'/.exec(String(step.failWhen))?.[1] ?? 'bad';
        if (loops.length > 0) params.index = '{{ index }}';
        if (piped) params.input = '{{ input }}';
        return { ...base, tool: 'lab/act', params };
      }
      case 'loop': {
        const named = base.over === undefined ? base : { ...base, as: `item_${step.id}` };
        return { ...named, do: equipList(base.do, [...loops, named], piped || base.while !== undefined) };
      }
      case 'parallel':
        return { ...base, branches: base.branches.map((branch) => equipList(branch, loops, piped)) };
      case 'pipe':
      case 'collect':
        return { ...base, steps: equipList(base.steps, loops, piped || base.type === 'pipe') };
    }
  }
  function equipList(list: Step | Step[], loops: readonly Step[], piped: boolean): Step[] {
    return [list].flat().map((step) => equipStep(step, loops, piped));
  }

  const steps = equipList(blueprint.steps, [], false);
  const strategy = quick(blueprint.errorStrategy);
  return {
    ...blueprint,
    ...(strategy === undefined ? {} : { errorStrategy: strategy }),
    steps,
    output: Object.fromEntries(
      readable.map(({ id, type }) => [
        id,
        [
          `{{ steps.${id} }}`,
          `{{ results.${id}.status }}`,
          ...(type === 'loop'
            ? [`{{ [results.${id}.count, results.${id}.failed, results.${id}.skipped] }}`]
            : []),
        ],
      ]),
    ),
  };
}

/** What was seen, in the terms of the prediction, with what is loose in it set aside. */
async function observe(
  runId: string,
  { status, output, errors }: Awaited<ReturnType<Lab['run']>>,
  { loose }: Prediction,
) {
  const records = await lab.steps(runId);
  const isLoose = (path: string) => loose.some((loop) => path.startsWith(`${loop}/`));
  const statuses = [...records]
    .filter(([, record]) => record.reason !== 'halted')
    .map(
      ([at, record]) =>
        [
          at,
          String(record.reason ?? '').startsWith('failed:')
            ? 'skipped failed'
            : String(record.status).replace('running', 'failed'),
        ] as const,
    );
  const calls = lab.calls({ run: runId }).map(({ args: { run: _, ...args } }) => args as JsonObject);
  return {
    status,
    output: withoutLoose(output, loose),
    statuses,
    errors: errors.map(({ path, kind }) => `${path} ${kind}`),
    calls,
    isLoose,
  };
}

/** How far an aborted loop came is open, so its counts are too. */
function withoutLoose(output: Json | undefined, loose: readonly string[]): Json | undefined {
  if (output === undefined || output === null) return output;
  return Object.fromEntries(
    Object.entries(output as JsonObject).map(([id, told]) => [
      id,
      loose.includes(id) ? (told as Json[]).slice(0, 2) : told,
    ]),
  );
}

it(`a blueprint ends as the model says (${RUNS} of them, seed ${SEED})`, {
  timeout: 20_000 + RUNS * 4000,
}, async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryBlueprint({ maxDepth: 2, maxSteps: 5 }), fc.nat(), async (shape, seed) => {
      count += 1;
      const blueprint = { ...equip(shape, seed), id: `random-${count}` };
      const said = predict(blueprint, createAct());
      const run = await lab.run(blueprint as unknown as JsonObject);
      if (process.env.E2E_DUMP)
        (await import('node:fs')).writeFileSync(
          process.env.E2E_DUMP,
          JSON.stringify(
            {
              blueprint,
              run,
              said: { ...said, statuses: [...said.statuses] },
              steps: [...(await lab.steps(run.runId)).values()],
              calls: lab.calls({ run: run.runId }),
            },
            null,
            1,
          ),
        );
      const seen = await observe(run.runId, run, said);
      const { isLoose } = seen;

      expect({ status: seen.status, output: seen.output }).toEqual({
        status: said.status,
        output: withoutLoose(said.output, said.loose),
      });
      const firm = (path: string) => !isLoose(path);
      expect(seen.errors.filter(firm).sort()).toEqual(said.errors.filter(firm).sort());
      for (const error of seen.errors.filter(isLoose)) expect(said.errors).toContain(error);
      for (const loop of said.loose.filter(firm)) {
        expect(seen.errors.filter((error) => error.startsWith(`${loop}/`)).length).toBeGreaterThan(0);
      }

      for (const [at, status] of seen.statuses) {
        expect([at, said.statuses.get(at)]).toEqual([at, status]);
      }
      const recorded = new Map(seen.statuses);
      const containers = new Set(
        stepsIn(blueprint.steps, undefined)
          .filter(({ type }) => type !== 'call')
          .map(({ id }) => id),
      );
      for (const [at, status] of said.statuses) {
        const open = said.status === 'FAILED' && status === 'failed' && containers.has(at);
        if (!at.includes('/') && !open) expect([at, recorded.get(at)]).toEqual([at, status]);
      }

      const open = new Set(said.loose.map((loop) => loop.split('/').at(-1)));
      const steps = new Set(stepsIn(blueprint.steps, open).map(({ id }) => id));
      const firmCalls = (calls: JsonObject[]) =>
        calls
          .filter(({ key }) => !steps.has(String((key as Json[])[0])))
          .map(({ run: _, ...args }) => sorted(args))
          .sort();
      expect(firmCalls(seen.calls)).toEqual(firmCalls(said.calls));
    }),
    {
      numRuns: RUNS,
      seed: SEED,
      ...(process.env.E2E_PATH === undefined ? {} : { path: process.env.E2E_PATH }),
      endOnFailure: process.env.E2E_SHRINK === undefined,
    },
  );
});

/** All steps; with `loops` only those inside the loops of these ids. */
function stepsIn(
  steps: readonly Step[],
  loops?: ReadonlySet<string | undefined>,
  inside = loops === undefined,
): Step[] {
  return steps.flatMap((step) => {
    const lists =
      step.type === 'loop'
        ? [step.do]
        : step.type === 'parallel'
          ? step.branches
          : step.type === 'call'
            ? []
            : [step.steps];
    const within = inside || loops?.has(step.id) === true;
    return [...(inside ? [step] : []), ...lists.flatMap((list) => stepsIn([list].flat(), loops, within))];
  });
}

function hash(text: string): number {
  return [...text].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 99_991, 7);
}
