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
import { innerLists } from './equip.ts';

export type Answer = { value: Json } | { error: string };
/** The tools. */
export type Act = (args: JsonObject) => Answer;
/** The sub-workflows, by their names. */
export type Children = (workflow: string) => Answer;

export interface Prediction {
  status: 'SUCCEEDED' | 'FAILED';
  output: Json | undefined;
  /** `status`, or `skipped failed` (because of a failed step), by occurrence path. */
  statuses: Map<string, string>;
  /** `path kind` of each failure of a step's own: a container that passes an inner one on has none. */
  errors: string[];
  calls: JsonObject[];
  /** Paths of aborted loops whose items may run at the same time. */
  loose: string[];
}

interface End {
  status: 'succeeded' | 'failed' | 'skipped';
  value: Json;
  error?: { step: string; kind: string };
  /** Skipped because of a failed step. */
  unread?: boolean;
  counts?: JsonObject;
}

/** Where a step is run. `input` is the end of the step before, in a pipe. */
interface Place {
  names: JsonObject;
  ends: Map<string, End>;
  at: string;
  strategy: ErrorStrategy;
  input: End | undefined;
}

const SKIPPED: End = { status: 'skipped', value: null };
const UNREAD: End = { ...SKIPPED, unread: true };
const NONE: JsonObject = { count: 0, failed: 0, skipped: 0 };
const ok = (value: Json, counts: JsonObject = NONE): End => ({ status: 'succeeded', value, counts });
const goesOn = (strategy: ErrorStrategy): boolean => strategy.onStepFailure === 'continue';

function failed(step: Step, kind: string, counts: JsonObject = NONE): End {
  return { status: 'failed', value: null, error: { step: step.id, kind }, counts };
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

export function predict(blueprint: Blueprint, act: Act, children: Children): Prediction {
  const statuses = new Map<string, string>();
  const errors: string[] = [];
  const calls: JsonObject[] = [];
  const loose: string[] = [];
  const defaults = Object.entries(blueprint.params ?? {}).map(([name, { default: given }]) => [name, given]);
  /** The steps around each step, outermost first. */
  const ancestors = new Map<string, readonly string[]>();
  const visit = (steps: readonly Step[], around: readonly string[]): void => {
    for (const step of steps) {
      ancestors.set(step.id, around);
      for (const inner of innerLists(step)) visit(inner, [...around, step.id]);
    }
  };
  visit(blueprint.steps, []);

  /** A step's end; one inside a skipped container ended as that did, one never reached as if it had failed. */
  function endOf(id: string, { ends }: Place): End {
    const known = ends.get(id);
    if (known !== undefined) return known;
    const around = (ancestors.get(id) ?? []).findLast((each) => ends.has(each));
    const end = ends.get(around ?? '');
    return end?.status === 'skipped' ? end : UNREAD;
  }

  function evaluate(template: Json, place: Place, output: Json = null): Json {
    if (Array.isArray(template)) return template.map((each) => evaluate(each, place, output));
    if (typeof template === 'object' && template !== null) {
      return Object.fromEntries(Object.entries(template).map(([k, v]) => [k, evaluate(v, place, output)]));
    }
    const expression = /^\{\{ (.*) \}\}$/.exec(String(template))?.[1];
    if (expression === undefined) return template;
    const ends = [...ancestors.keys()].map((id): [string, End] => [id, endOf(id, place)]);
    const steps = Object.fromEntries(ends.map(([id, { value }]) => [id, value]));
    const results = Object.fromEntries(
      ends.map(([id, { status, counts = NONE }]) => [id, { status, ...counts }]),
    );
    const params = Object.fromEntries(defaults) as JsonObject;
    return search({ ...place.names, params, steps, results, output }, expression) as Json;
  }

  /** Whether the step reads the value of a failed one before it runs, or of one that was skipped for such a reason. */
  function readsFailed(step: Step, place: Place): boolean {
    const { when = 0, params = 0, over = 0 } = step as { when?: Json; params?: Json; over?: Json };
    const ids = [...JSON.stringify([when, params, over]).matchAll(/steps\.([\w-]+)/g)].map(([, id]) =>
      String(id),
    );
    const ends = [...ids.map((id) => endOf(id, place)), ...(place.input ? [place.input] : [])];
    return ends.some((end) => end.status === 'failed' || end.unread === true);
  }

  function run(step: Step, outer: Place): End {
    const place = { ...outer, strategy: step.errorStrategy ?? outer.strategy };
    const path = place.at + step.id;
    let end: End;
    if (readsFailed(step, place)) end = UNREAD;
    else if (step.when !== undefined && !truthy(evaluate(step.when, place))) end = SKIPPED;
    else end = body(step, place);
    const fails = end.status === 'succeeded' && truthy(evaluate(step.failWhen ?? false, place, end.value));
    if (fails) end = failed(step, 'FailedCondition', end.counts);
    if (end.error?.step === step.id) errors.push(`${path} ${end.error.kind}`);
    statuses.set(path, end.unread === true ? 'skipped failed' : end.status);
    return end;
  }

  function body(step: Step, place: Place): End {
    switch (step.type) {
      case 'call':
        return call(step, place);
      case 'loop':
        return loop(step, place);
      case 'parallel': {
        const ends = innerLists(step).map((branch) => list(branch, 'branch', place));
        const broken = ends.find((end) => end.status === 'failed');
        return broken !== undefined && !goesOn(place.strategy) ? broken : ok(ends.map((end) => end.value));
      }
      case 'pipe':
        return list(step.steps, 'pipe', place);
      case 'collect': {
        const end = list(step.steps, 'collect', place);
        if (end.status === 'failed') return end;
        return ok(Object.fromEntries(step.steps.map(({ id }) => [id, place.ends.get(id)?.value ?? null])));
      }
    }
  }

  function call(step: Step & { type: 'call' }, place: Place): End {
    if ('workflow' in step) {
      const answer = children(step.workflow);
      return 'value' in answer ? ok(answer.value) : failed(step, 'SubWorkflowFailed');
    }
    const all = Object.entries(evaluate(step.params ?? {}, place) as JsonObject);
    const args = Object.fromEntries(all.filter(([, value]) => value !== null));
    const { maxRetries, onStepFailure } = place.strategy;
    const retries = maxRetries ?? (onStepFailure === 'retry' ? 2 : 0);
    for (let tries = 0; ; tries += 1) {
      calls.push(args);
      const answer = act(args);
      if ('value' in answer) return ok(answer.value);
      if (tries === retries) return failed(step, 'ToolError');
    }
  }

  function loop(step: Step & { type: 'loop' }, place: Place): End {
    const over = step.over === undefined ? undefined : (evaluate(step.over, place) as Json[]);
    const oneByOne = over === undefined || (step.concurrency ?? 1) === 1;
    const ends: End[] = [];
    for (let index = 0; index < (over?.length ?? Number.POSITIVE_INFINITY); index += 1) {
      if (over === undefined && index === step.max) return failed(step, 'LimitExceeded', countsOf(ends));
      const own: JsonObject = over
        ? { [step.as ?? 'item']: over[index] ?? null }
        : { input: ends.at(-1)?.value ?? null };
      const at = `${place.at}${step.id}/${String(index).padStart(5, '0')}/`;
      const names: JsonObject = { ...place.names, ...own, index };
      const inner: Place = { ...place, names, ends: new Map(place.ends), at, input: undefined };
      const end = list([step.do].flat(), 'item', inner);
      ends.push(end);
      if (end.status === 'failed' && (over === undefined || (oneByOne && !goesOn(place.strategy)))) break;
      if (over === undefined && !truthy(evaluate(step.while ?? null, inner, end.value))) break;
    }
    const broken = ends.find((end) => end.status === 'failed');
    if (broken === undefined || goesOn(place.strategy))
      return ok(
        ends.map((end) => end.value),
        countsOf(ends),
      );
    if (!oneByOne) loose.push(`${place.at}${step.id}`);
    return { ...broken, counts: countsOf(ends) };
  }

  function list(
    steps: readonly Step[],
    kind: 'top' | 'branch' | 'item' | 'pipe' | 'collect',
    outer: Place,
  ): End {
    const place = { ...outer };
    let last: End = SKIPPED;
    for (const step of steps) {
      last = run(step, place);
      place.ends.set(step.id, last);
      const ends = kind === 'item' || kind === 'pipe' || !goesOn(step.errorStrategy ?? place.strategy);
      if (last.status === 'failed' && ends) return { ...last, value: null };
      if (kind === 'pipe')
        Object.assign(place, { input: last, names: { ...place.names, input: last.value } });
    }
    if (kind === 'item' && last.status === 'skipped') return SKIPPED;
    return kind === 'pipe' && last.unread === true ? last : ok(last.value);
  }

  const top: Place = {
    names: {},
    ends: new Map(),
    at: '',
    strategy: blueprint.errorStrategy ?? {},
    input: undefined,
  };
  const end = list(blueprint.steps, 'top', top);
  const reached = blueprint.output === undefined ? end.value : evaluate(blueprint.output, top);
  if (end.status === 'failed') return { status: 'FAILED', output: undefined, statuses, errors, calls, loose };
  return { status: 'SUCCEEDED', output: reached, statuses, errors, calls, loose };
}
