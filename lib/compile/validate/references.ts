/**
 * References: does every name that an expression reads exist where it stands? Also notes what is read, for the checks of
 * what nobody reads.
 */
import { quoteValue } from '../../blueprint/diagnostics.ts';
import { isJsonObject } from '../../blueprint/json.ts';
import { listNames } from '../../blueprint/suggest.ts';
import { type Reference, references } from '../../expression/references.ts';
import { itemName } from './names.ts';
import type { Outline, OutlineStep } from './outline.ts';
import type { Report } from './report.ts';
import type { Site } from './sites.ts';
import type { ParsedSite } from './templates.ts';
import { type Usage, useInput } from './usage.ts';
import { readableIds, visibilityOf } from './visibility.ts';

/** Names shown in a message. */
const SHOWN = 8;
const ROOTS = ['params', 'steps', 'results', 'run'] as const;
const RUN_FIELDS = ['id', 'workflow', 'revision', 'trigger', 'startedAt', 'date', 'errors'];
const RESULT_FIELDS = ['status', 'error', 'attempts', 'ms'];
const CALL_FIELDS = ['content', 'structured', 'isError', 'server', 'tool'];
const LOOP_FIELDS = ['count', 'failed', 'skipped', 'items'];

/** What stands before and after the root of `!steps.a.b`. */
const NEGATED = /!\s*(\$\s*\.\s*)?$/;
const PATH = /^\w+\s*\.\s*([\w-]+)/;

/** What a reference stands in. */
interface Place {
  site: Site;
  pointer: string;
  source: string;
}

interface Known {
  outline: Outline;
  params: readonly string[];
  declared: ReadonlySet<string>;
  /** Items of all loops of the blueprint. */
  items: ReadonlySet<string>;
}

/** The names that an expression may begin with at a site. */
export function rootsAt({ surroundings, phase, step }: Site): string[] {
  const roots: string[] = [...ROOTS, ...surroundings.items];
  if (surroundings.index) roots.push('index');
  if (surroundings.input !== 'none') roots.push('input');
  if (phase === 'after' && step !== undefined) roots.push('output');
  return roots;
}

export function checkReferences(
  sites: readonly ParsedSite[],
  outline: Outline,
  usage: Usage,
  report: Report,
): void {
  const { params } = outline.blueprint;
  const names = isJsonObject(params) ? Object.keys(params) : [];
  const known: Known = {
    outline,
    params: names,
    declared: new Set(names),
    items: new Set(outline.all.map(itemName).filter((name) => name !== undefined)),
  };
  for (const site of sites) {
    const roots = rootsAt(site);
    for (const { expression, pointer } of site.expressions) {
      const place = { site, pointer, source: expression.source };
      for (const reference of references(expression))
        checkReference(reference, place, roots, known, usage, report);
    }
  }
}

function checkReference(
  reference: Reference,
  place: Place,
  roots: readonly string[],
  known: Known,
  usage: Usage,
  report: Report,
): void {
  const { root, path } = reference;
  if (root === '$') {
    report.add('BP410', place.pointer, {
      message: 'the expression reads the whole scope; name what it needs',
      got: quoteValue(place.source),
      expected: '"$." followed by a root, as in $.params.name',
    });
    return;
  }
  if (!roots.includes(root)) {
    unknownRoot(root, place, roots, known, report);
    return;
  }
  switch (root) {
    case 'params':
      checkParam(path[0], place, known, usage, report);
      return;
    case 'steps':
    case 'results':
      checkStep(root, reference, place, known, usage, report);
      return;
    case 'run':
      checkField('run', path[0], RUN_FIELDS, place, report);
      return;
    case 'input':
      useInput(place.site.step, known.outline, usage);
      return;
    case 'output':
      if (place.site.step !== undefined) usage.outputs.add(place.site.step);
      return;
    default:
  }
}

function unknownRoot(
  root: string,
  place: Place,
  roots: readonly string[],
  known: Known,
  report: Report,
): void {
  const got = quoteValue(place.source);
  const expected = `one of ${listNames(roots)}`;
  if (root === 'input') {
    report.add('BP408', place.pointer, {
      message: '"input" exists only inside a pipe or a while loop',
      got,
      expected,
      hint: 'Read an earlier step by its id: steps.ID.',
    });
  } else if (root === 'output') {
    report.add('BP409', place.pointer, {
      message: '"output" exists only in select, failWhen and while, where it is the step\'s own value',
      got,
      expected,
      hint: 'Read an earlier step by its id: steps.ID.',
    });
  } else if (root === 'index' || known.items.has(root)) {
    report.add('BP407', place.pointer, {
      message: `"${root}" exists only in the body of its loop`,
      got,
      expected,
      hint: 'After a loop its values are steps.LOOP, and each item with its result is in results.LOOP.items.',
    });
  } else {
    report.add('BP401', place.pointer, {
      message: `unknown name "${root}"; an expression here begins with ${listNames(roots)}`,
      got,
      expected,
      meant: meantRoot(root, roots, known, report),
      ...(known.outline.byId.has(root) || known.declared.has(root)
        ? {}
        : { hint: "A text inside an expression is written in single quotes: 'text'." }),
    });
  }
}

function meantRoot(root: string, roots: readonly string[], known: Known, report: Report): string | undefined {
  if (known.outline.byId.has(root)) return `steps.${root}`;
  if (known.declared.has(root)) return `params.${root}`;
  return report.nearest(root, roots);
}

function checkParam(
  name: string | undefined,
  place: Place,
  known: Known,
  usage: Usage,
  report: Report,
): void {
  if (name === undefined) usage.allParams = true;
  else if (known.declared.has(name)) usage.params.add(name);
  else {
    report.add('BP406', place.pointer, {
      message: `unknown parameter "${name}"; the parameters are ${listNames(known.params)}`,
      got: quoteValue(place.source),
      expected: `one of ${listNames(known.params)}`,
      meant: report.nearest(name, known.params),
      hint: `Declare it: "params": { "${name}": { "type": "string" } }.`,
    });
  }
}

function checkStep(
  root: 'steps' | 'results',
  reference: Reference,
  place: Place,
  known: Known,
  usage: Usage,
  report: Report,
): void {
  const [id, field] = reference.path;
  const got = quoteValue(place.source);
  const negated =
    NEGATED.exec(place.source.slice(0, reference.offset)) && PATH.exec(place.source.slice(reference.offset));
  if (id === undefined && negated) {
    // `!steps.a.b` is `(!steps).a.b`: always null, and the lint says how it is written.
    usage.values.add(negated[1] ?? '');
    return;
  }
  if (id === undefined) {
    report.add('BP410', place.pointer, {
      message: `"${root}" is followed by a literal step id`,
      got,
      expected: `${root}.ID`,
      hint: 'To read several steps together, put them into a collect step.',
    });
    return;
  }
  const target = known.outline.byId.get(id);
  if (target === undefined) {
    const readable = idsFor(place, known);
    report.add('BP402', place.pointer, {
      message: `unknown step "${id}"; ${beforeIt(readable)}`,
      got,
      expected: readable.length === 0 ? 'no step has run by then' : `one of ${listNames(readable)}`,
      meant: report.nearest(id, readable),
    });
    return;
  }
  if (root === 'steps') usage.values.add(id);
  else usage.results.add(id);
  if (!checkVisible(target, id, place, known, report)) return;
  if (root === 'results') checkField(`results.${id}`, field, resultFields(target), place, report);
}

function checkVisible(target: OutlineStep, id: string, place: Place, known: Known, report: Report): boolean {
  const visibility = visibilityOf(target, place.site.step, place.site.phase);
  if (visibility.readable) return true;
  const got = quoteValue(place.source);
  if (visibility.reason === 'branch') {
    report.add('BP404', place.pointer, {
      message: `step "${id}" runs in another branch of "${visibility.parallel.id ?? ''}" at the same time`,
      got,
      expected: 'a step of the same branch, or one before the parallel step',
      hint: 'Put both steps into one branch, or read them after the parallel step.',
    });
  } else if (visibility.reason === 'loop') {
    const loop = visibility.loop.id ?? 'LOOP';
    report.add('BP405', place.pointer, {
      message: `step "${id}" is inside the loop "${loop}" and has one value an item`,
      got,
      expected: `steps.${loop}, the array of the items' values`,
      hint:
        place.site.step === visibility.loop
          ? 'Here the value of the pass is "output".'
          : `Read steps.${loop}; the value of an item is that of the last step of the body.`,
    });
  } else {
    const readable = idsFor(place, known);
    report.add('BP403', place.pointer, {
      message: `step "${id}" ${WHY_NOT[visibility.reason]}; ${beforeIt(readable)}`,
      got,
      expected: readable.length === 0 ? 'no step has run by then' : `one of ${listNames(readable)}`,
      hint:
        visibility.reason === 'self' && place.site.phase === 'after'
          ? 'Here the value of the step itself is "output".'
          : 'Steps run in the order in which they are written.',
    });
  }
  return false;
}

const WHY_NOT = {
  later: 'has not run by then',
  self: 'is this step itself',
  around: 'is around this step and has not ended by then',
} as const;

/** The ids that can be read at a place, in the order of the document. */
function idsFor({ site }: Place, { outline }: Known): string[] {
  return readableIds(outline, site.step, site.phase, SHOWN + 1).reverse();
}

function beforeIt(readable: readonly string[]): string {
  return readable.length === 0
    ? 'no step comes before it'
    : `steps before it are ${listNames(readable, SHOWN)}`;
}

function resultFields(step: OutlineStep): readonly string[] {
  if (step.type === 'call') return [...RESULT_FIELDS, ...CALL_FIELDS];
  return step.type === 'loop' ? [...RESULT_FIELDS, ...LOOP_FIELDS] : RESULT_FIELDS;
}

function checkField(
  what: string,
  field: string | undefined,
  fields: readonly string[],
  place: Place,
  report: Report,
): void {
  if (field === undefined || fields.includes(field)) return;
  report.add('BP706', place.pointer, {
    message: `${what} has no field "${field}", so this is always null; its fields are ${listNames(fields, 12)}`,
    got: quoteValue(place.source),
    expected: `one of ${listNames(fields, 12)}`,
    meant: report.nearest(field, fields),
  });
}
