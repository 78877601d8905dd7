/**
 * Template sites: every place of a blueprint that may hold a template, with what its expressions may read there.
 *
 * A step's own templates see what stands around the step (an outer loop's item, an outer pipe's `input`); what the step
 * itself brings (`as`, `index`, `input`) is for its inner steps, but `while`, which is looked at after each pass, has the
 * pass's `index`. `output` is for what is evaluated after it ran.
 */
import { childPointer } from '../../blueprint/diagnostics.ts';
import { isJsonObject, type Json } from '../../blueprint/json.ts';
import { itemName } from './names.ts';
import type { Outline, OutlineStep } from './outline.ts';

/** The names that loops and pipes around a place bring in. */
interface Surroundings {
  /** Names of the items of the loops around, outermost first. */
  items: readonly string[];
  index: boolean;
  /** Whether there is an `input`, and whether it can be null (first in a pipe, first pass). */
  input: 'none' | 'value' | 'perhaps-null';
}

export interface Site {
  pointer: string;
  value: Json;
  /** The step it belongs to; absent for the blueprint's `output`. */
  step?: OutlineStep;
  /** Before the step runs (when, over, params), or after (select, failWhen, while, the blueprint's output). */
  phase: 'before' | 'after';
  /** The field, e.g. `when`, or the name of an argument where `field` is `params`. */
  field: string;
  surroundings: Surroundings;
}

const TOP: Surroundings = { items: [], index: false, input: 'none' };
const BEFORE = ['when', 'over'] as const;
const AFTER = ['select', 'failWhen', 'while'] as const;
/** Which of the fields above a step type has. */
const FIELDS: Record<OutlineStep['type'], readonly string[]> = {
  call: ['when', 'failWhen', 'select'],
  loop: ['when', 'failWhen', 'over', 'while'],
  parallel: ['when', 'failWhen'],
  pipe: ['when', 'failWhen'],
  collect: ['when', 'failWhen', 'select'],
};

/** Fields whose value is one whole template or a literal of their type. */
export const WHOLE_FIELDS: readonly string[] = ['when', 'failWhen', 'while', 'over'];

/** All sites in the order of the document. */
export function templateSites(outline: Outline): Site[] {
  const sites: Site[] = [];
  visitList(outline.steps, TOP, sites);
  const { output } = outline.blueprint;
  if (output !== undefined) {
    sites.push({ pointer: '/output', value: output, phase: 'after', field: 'output', surroundings: TOP });
  }
  return sites;
}

function visitList(steps: readonly OutlineStep[], surroundings: Surroundings, sites: Site[]): void {
  let here = surroundings;
  for (const step of steps) {
    addSites(step, here, sites);
    const inner = innerSurroundings(step, here);
    for (const list of step.inner) visitList(list, inner, sites);
    if (step.parent?.type === 'pipe') here = { ...here, input: 'value' };
  }
}

function addSites(step: OutlineStep, surroundings: Surroundings, sites: Site[]): void {
  const { raw, pointer } = step;
  const add = (field: string, phase: Site['phase'], at: string, value: Json | undefined) => {
    if (value === undefined) return;
    const here = field === 'while' ? { ...surroundings, index: true } : surroundings;
    sites.push({ pointer: at, value, step, phase, field, surroundings: here });
  };
  const has = (field: string) => FIELDS[step.type].includes(field);
  for (const field of BEFORE) if (has(field)) add(field, 'before', `${pointer}/${field}`, raw[field]);
  if (step.type === 'call' && isJsonObject(raw.params)) {
    add('params', 'before', `${pointer}/params`, raw.params);
  }
  for (const field of AFTER) if (has(field)) add(field, 'after', childPointer(pointer, field), raw[field]);
}

function innerSurroundings(step: OutlineStep, around: Surroundings): Surroundings {
  if (step.type === 'pipe') return around.input === 'none' ? { ...around, input: 'perhaps-null' } : around;
  if (step.type !== 'loop') return around;
  const name = itemName(step);
  if (name === undefined) return { ...around, index: true, input: 'perhaps-null' };
  return { ...around, items: [...around.items, name], index: true };
}
