/**
 * Names: ids that differ, names that are free, loop names that hide no other, and defaults of the type their parameter
 * declares. How a name is formed is part of the shape.
 */

import { childPointer, quoteValue } from '../../blueprint/diagnostics.ts';
import { isJsonObject } from '../../blueprint/json.ts';
import { RESERVED_NAMES } from '../../blueprint/limits.ts';
import { hasParamType, jsonType } from '../../blueprint/params.ts';
import { PARAM_TYPES, type ParamType } from '../../blueprint/types.ts';
import type { Outline, OutlineStep } from './outline.ts';
import type { Report } from './report.ts';

const DEFAULT_ITEM = 'item';

export function checkNames(outline: Outline, report: Report): void {
  for (const step of outline.all) {
    checkId(step, outline, report);
    if (step.type === 'loop') checkItemName(step, report);
  }
  checkParams(outline, report);
}

/** The name of a loop's item, or undefined for a `while` loop, which has none. */
export function itemName(step: OutlineStep): string | undefined {
  if (step.type !== 'loop' || (step.raw.while !== undefined && step.raw.over === undefined)) return undefined;
  return typeof step.raw.as === 'string' ? step.raw.as : DEFAULT_ITEM;
}

function checkId(step: OutlineStep, outline: Outline, report: Report): void {
  if (step.id === undefined) return;
  const pointer = `${step.pointer}/id`;
  checkReserved(step.id, pointer, 'a step id', report);
  const first = outline.byId.get(step.id);
  if (first !== undefined && first !== step) {
    report.add('BP202', pointer, {
      message: `the id "${step.id}" is used twice; the first is at ${first.pointer.slice(1)}`,
      got: quoteValue(step.id),
      expected: 'an id that no other step has, inner steps included',
    });
  }
}

function checkItemName(step: OutlineStep, report: Report): void {
  const name = itemName(step);
  if (name === undefined) return;
  const written = step.raw.as !== undefined;
  const pointer = written ? `${step.pointer}/as` : step.pointer;
  if (written) checkReserved(name, pointer, "a loop's item", report);
  for (let outer = step.parent; outer !== undefined; outer = outer.parent) {
    if (itemName(outer) !== name) continue;
    report.add('BP204', pointer, {
      message: `the item of the loop is named "${name}", as is the item of the loop "${outer.id ?? ''}" around it`,
      got: written ? quoteValue(name) : `"${name}", the default`,
      expected: 'another name in "as"',
      hint: 'Name each item for what it is: "as": "pod", "as": "container".',
    });
    return;
  }
}

function checkReserved(name: string, pointer: string, what: string, report: Report): void {
  if (!isReserved(name)) return;
  report.add('BP203', pointer, {
    message: `"${name}" is reserved and cannot be ${what}`,
    got: quoteValue(name),
    expected: `a name other than ${RESERVED_NAMES.join(', ')} and the names of every JavaScript object`,
  });
}

/** The roots of expressions, and what every JavaScript object inherits: such a name would be found where it is not. */
function isReserved(name: string): boolean {
  return (RESERVED_NAMES as readonly string[]).includes(name) || isInherited(name);
}

function isInherited(name: string): boolean {
  return name in Object.prototype || name === 'prototype';
}

function checkParams({ blueprint }: Outline, report: Report): void {
  if (!isJsonObject(blueprint.params)) return;
  for (const [name, declaration] of Object.entries(blueprint.params)) {
    const pointer = childPointer('/params', name);
    if (name !== '__proto__' && isInherited(name)) checkReserved(name, pointer, 'a parameter', report);
    if (!isJsonObject(declaration)) continue;
    const { type, default: value } = declaration;
    if (typeof value === 'string' && /(?<!\\)\{\{/.test(value)) {
      report.add('BP206', `${pointer}/default`, {
        message: `the default of "${name}" holds "{{", and a default is never evaluated`,
        got: quoteValue(value),
        hint: `Make it null, and write {{ params.${name} || ... }} where it is read.`,
      });
    }
    if (value === undefined || value === null || !isParamType(type) || hasParamType(value, type)) continue;
    report.add('BP205', `${pointer}/default`, {
      message: `the default of "${name}" is of type ${jsonType(value)}, not ${type}`,
      got: quoteValue(value),
      expected: `a value of type ${type}, or null`,
    });
  }
}

function isParamType(value: unknown): value is ParamType {
  return PARAM_TYPES.some((type) => type === value);
}
