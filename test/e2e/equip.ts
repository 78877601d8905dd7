/** Random blueprints made fit to run against the lab server's tool `act` (test/fixtures/act.mjs). */
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint, ErrorStrategy, Step } from '../../lib/blueprint/types.ts';

/** Gives every call the tool `act` and a behaviour, every delay no time, and the run an output that tells of every step. */
export function equip(blueprint: Blueprint, seed: number, behaviours: readonly string[]): Blueprint {
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
        // Two while loops around a call leave nothing to tell its occurrences apart by.
        const choices = whiles > 1 ? behaviours.filter((name) => name !== 'flaky') : behaviours;
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

/** The lists of steps inside a step. */
export function innerLists(step: Step): Step[][] {
  switch (step.type) {
    case 'call':
      return [];
    case 'loop':
      return [[step.do].flat()];
    case 'parallel':
      return step.branches.map((branch) => [branch].flat());
    case 'pipe':
    case 'collect':
      return [step.steps];
  }
}

/** All steps; with `loops` only those inside the loops of these ids. */
export function stepsIn(
  steps: readonly Step[],
  loops?: ReadonlySet<string | undefined>,
  inside = loops === undefined,
): Step[] {
  return steps.flatMap((step) => {
    const within = inside || loops?.has(step.id) === true;
    return [...(inside ? [step] : []), ...innerLists(step).flatMap((list) => stepsIn(list, loops, within))];
  });
}

/** Paths of the containers around the occurrence `at`, up to the iteration that it stands in. */
export function around(steps: readonly Step[], at: string): string[] {
  const prefix = at.slice(0, at.lastIndexOf('/') + 1);
  const id = at.slice(prefix.length);
  const holds = (step: Step) => stepsIn(innerLists(step).flat()).some((inner) => inner.id === id);
  return stepsIn(steps)
    .filter(({ type }) => type !== 'loop')
    .filter(holds)
    .map((step) => prefix + step.id);
}

function hash(text: string): number {
  return [...text].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 99_991, 7);
}
