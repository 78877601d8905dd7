/**
 * What a blueprint means, in one small interpreter: written from the design's text, sharing nothing with lib. It runs a
 * blueprint against a function that stands for the tools, one step after the other, and tells how every occurrence ends.
 *
 * Where the language leaves order open (items at the same time in a loop that aborts), it runs everything and names the
 * loop as loose: what really happened there is some of it.
 */
import { search } from '@jmespath-community/jmespath';
import type { Json, JsonObject } from '../../lib/blueprint/json.ts';
import type { Blueprint, ErrorStrategy, Step } from '../../lib/blueprint/types.ts';

export type Act = (args: JsonObject) => { value: Json } | { error: string };

export interface Prediction {
  status: 'SUCCEEDED' | 'FAILED';
  output: Json | undefined;
  /** `status` or `skipped failed` (because of a failed step) by occurrence path. */
  statuses: Map<string, string>;
  /** `path kind` of each failure that is one of its own, not the passing on of an inner one. */
  errors: string[];
  calls: JsonObject[];
  /** Paths of aborted loops whose items may run at the same time. */
  loose: string[];
}

interface Failed {
  step: string;
  kind: string;
}
interface End {
  status: 'succeeded' | 'failed' | 'skipped';
  value: Json;
  error?: Failed;
  /** Skipped because of a failed step. */
  unread?: boolean;
  counts?: JsonObject;
}
interface Scope {
  names: JsonObject;
  ends: Map<string, End>;
}
type List = 'top' | 'branch' | 'item' | 'pipe' | 'collect';

const SKIPPED: End = { status: 'skipped', value: null };
const ok = (value: Json, counts?: JsonObject): End => ({
  status: 'succeeded',
  value,
  ...(counts && { counts }),
});

export function predict(blueprint: Blueprint, act: Act): Prediction {
  const statuses = new Map<string, string>();
  const errors: string[] = [];
  const calls: JsonObject[] = [];
  const loose: string[] = [];
  const params = Object.fromEntries(
    Object.entries(blueprint.params ?? {}).map(([k, p]) => [k, p.default ?? null]),
  );

  /** Looks a step's end up; one inside a skipped container ended as that did, one never reached as if it had failed. */
  function endOf(id: string, scope: Scope): End {
    const known = scope.ends.get(id);
    if (known !== undefined) return known;
    for (const around of [...(ancestors.get(id) ?? [])].reverse()) {
      const end = scope.ends.get(around);
      if (end?.status === 'skipped') return end;
      if (end !== undefined) break;
    }
    return { ...SKIPPED, unread: true };
  }

  function evaluate(template: Json, scope: Scope, output?: Json): Json {
    if (Array.isArray(template)) return template.map((each) => evaluate(each, scope, output));
    if (typeof template === 'object' && template !== null) {
      return Object.fromEntries(Object.entries(template).map(([k, v]) => [k, evaluate(v, scope, output)]));
    }
    const expression = typeof template === 'string' ? /^\{\{ (.*) \}\}$/.exec(template)?.[1] : undefined;
    if (expression === undefined) return template;
    const steps: JsonObject = {};
    const results: JsonObject = {};
    for (const id of ancestors.keys()) {
      const end = endOf(id, scope);
      steps[id] = end.value;
      const counts: JsonObject = loops.has(id) ? { count: 0, failed: 0, skipped: 0 } : {};
      results[id] = { status: end.status, ...counts, ...end.counts };
    }
    return search({ ...scope.names, params, steps, results, output: output ?? null }, expression) as Json;
  }

  /** The failed step that what runs before the step itself reads, if there is one. */
  function unread(step: Step, scope: Scope, input: End | undefined): boolean {
    const read = JSON.stringify([
      step.when,
      'params' in step ? step.params : 0,
      'over' in step ? step.over : 0,
    ]);
    const ids = [...read.matchAll(/steps\.([\w-]+)/g)].map(([, id]) => String(id));
    const ends = [...ids.map((id) => endOf(id, scope)), ...(input ? [input] : [])];
    return ends.some((end) => end.status === 'failed' || end.unread === true);
  }

  function run(step: Step, scope: Scope, at: string, outer: ErrorStrategy, input: End | undefined): End {
    const strategy = step.errorStrategy ?? outer;
    let end: End;
    if (unread(step, scope, input)) end = { ...SKIPPED, unread: true };
    else if (step.when !== undefined && !truthy(evaluate(step.when, scope))) end = SKIPPED;
    else end = body(step, scope, at, strategy, input);
    const own = end.error?.step === step.id;
    if (
      end.status === 'succeeded' &&
      step.failWhen !== undefined &&
      truthy(evaluate(step.failWhen, scope, end.value))
    ) {
      end = failed(step, 'FailedCondition', end.counts);
      errors.push(`${at}${step.id} FailedCondition`);
    } else if (own) errors.push(`${at}${step.id} ${end.error?.kind}`);
    statuses.set(at + step.id, end.unread === true ? 'skipped failed' : end.status);
    return end;
  }

  function body(step: Step, scope: Scope, at: string, strategy: ErrorStrategy, input: End | undefined): End {
    switch (step.type) {
      case 'call':
        return call(step, scope, strategy);
      case 'loop':
        return loop(step, scope, at, strategy);
      case 'parallel': {
        const ends = step.branches.map((branch) =>
          list([branch].flat(), 'branch', scope, at, strategy, input),
        );
        const broken = ends.find((end) => end.status === 'failed');
        if (broken !== undefined && !goesOn(strategy)) return broken;
        return ok(ends.map((end) => end.value));
      }
      case 'pipe':
        return list(step.steps, 'pipe', scope, at, strategy, input);
      case 'collect': {
        const end = list(step.steps, 'collect', scope, at, strategy, input);
        if (end.status === 'failed') return end;
        return ok(Object.fromEntries(step.steps.map(({ id }) => [id, scope.ends.get(id)?.value ?? null])));
      }
    }
  }

  function call(step: Step & { type: 'call' }, scope: Scope, strategy: ErrorStrategy): End {
    const all = evaluate(step.params ?? {}, scope) as JsonObject;
    const args = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    const retries = strategy.maxRetries ?? (strategy.onStepFailure === 'retry' ? 2 : 0);
    for (let tries = 0; ; tries += 1) {
      calls.push(args);
      const answer = act(args);
      if ('value' in answer) return ok(answer.value);
      if (tries === retries) return failed(step, 'ToolError');
    }
  }

  function loop(step: Step & { type: 'loop' }, scope: Scope, at: string, strategy: ErrorStrategy): End {
    const over = step.over === undefined ? undefined : (evaluate(step.over, scope) as Json[]);
    const ends: End[] = [];
    let previous: Json = null;
    for (let index = 0; over === undefined || index < over.length; index += 1) {
      if (over === undefined && index === step.max) return failed(step, 'LimitExceeded', countsOf(ends));
      const names: JsonObject =
        over === undefined ? { input: previous } : { [step.as ?? 'item']: over[index] ?? null };
      const inner: Scope = { names: { ...scope.names, ...names, index }, ends: new Map(scope.ends) };
      const end = list(
        [step.do].flat(),
        'item',
        inner,
        `${at}${step.id}/${String(index).padStart(5, '0')}/`,
        strategy,
        undefined,
      );
      ends.push(end);
      previous = end.value;
      const halts =
        end.status === 'failed' &&
        (over === undefined || (!goesOn(strategy) && (step.concurrency ?? 1) === 1));
      if (halts) break;
      if (over === undefined && !truthy(evaluate(step.while ?? null, inner, end.value))) break;
    }
    const broken = ends.find((end) => end.status === 'failed');
    if (broken !== undefined && !goesOn(strategy)) {
      if (over !== undefined && (step.concurrency ?? 1) !== 1) loose.push(`${at}${step.id}`);
      return { ...broken, counts: countsOf(ends) };
    }
    return ok(
      ends.map((end) => end.value),
      countsOf(ends),
    );
  }

  function list(
    steps: Step[],
    kind: List,
    scope: Scope,
    at: string,
    strategy: ErrorStrategy,
    input: End | undefined,
  ): End {
    let before = input;
    let last: End = SKIPPED;
    let names = scope.names;
    for (const step of steps) {
      last = run(step, { names, ends: scope.ends }, at, strategy, before);
      scope.ends.set(step.id, last);
      const ends = kind === 'item' || kind === 'pipe' || !goesOn(step.errorStrategy ?? strategy);
      if (last.status === 'failed' && ends)
        return { status: 'failed', value: null, ...(last.error && { error: last.error }) };
      if (kind === 'pipe') {
        before = last;
        names = { ...names, input: last.value };
      }
    }
    if (kind === 'item' && last.status === 'skipped') return SKIPPED;
    return kind === 'pipe' && last.unread === true ? last : ok(last.value);
  }

  const ancestors = ancestorsOf(blueprint.steps);
  const loops = new Set(
    [...JSON.stringify(blueprint.steps).matchAll(/"id":"([^"]+)","type":"loop"/g)].map(([, id]) =>
      String(id),
    ),
  );
  const scope: Scope = { names: {}, ends: new Map() };
  const end = list(blueprint.steps, 'top', scope, '', blueprint.errorStrategy ?? {}, undefined);
  const status = end.status === 'failed' ? 'FAILED' : 'SUCCEEDED';
  const output = blueprint.output === undefined ? end.value : evaluate(blueprint.output, scope);
  return { status, output: status === 'FAILED' ? undefined : output, statuses, errors, calls, loose };
}

function failed(step: Step, kind: string, counts?: JsonObject): End {
  return { status: 'failed', value: null, error: { step: step.id, kind }, ...(counts && { counts }) };
}

function goesOn(strategy: ErrorStrategy): boolean {
  return strategy.onStepFailure === 'continue';
}

function countsOf(ends: readonly End[]): JsonObject {
  const of = (status: string) => ends.filter((end) => end.status === status).length;
  return { count: ends.length, failed: of('failed'), skipped: of('skipped') };
}

function truthy(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value === 0 || Boolean(value);
}

function ancestorsOf(
  steps: readonly Step[],
  around: readonly string[] = [],
  found = new Map<string, readonly string[]>(),
) {
  for (const step of steps) {
    found.set(step.id, around);
    const inner =
      step.type === 'loop'
        ? [step.do]
        : step.type === 'parallel'
          ? step.branches
          : step.type === 'call'
            ? []
            : [step.steps];
    for (const part of inner) ancestorsOf([part].flat(), [...around, step.id], found);
  }
  return found;
}
