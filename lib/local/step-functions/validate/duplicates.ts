/**
 * State names are unique in the whole machine, its branches and item processors included; a name that stands twice in
 * one `States` object is found in the text, because a parser keeps only the last. Labels are unique as well.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../blueprint/json.ts';
import type { Report } from './diagnostic.ts';
import { duplicateNames } from './json-syntax.ts';
import { nestedScopes } from './scopes.ts';

export function checkDuplicates(text: string, definition: JsonObject, report: Report): void {
  for (const { name, path } of duplicateNames(text)) {
    const owner = pathText(path);
    if (path.at(-1) === 'States')
      report.add('DUPLICATE_STATE_NAME', `Duplicate State name: ${name}`, `${owner}/${name}`);
    else report.add('INVALID_JSON_DESCRIPTION', `Duplicate field '${name}'`, owner === '' ? '/' : owner);
  }
  const names = new Set<string>();
  const labels = new Set<Json>();
  for (const { states, location } of nestedScopes(definition)) {
    for (const [name, state] of Object.entries(states)) {
      if (names.has(name)) {
        report.add('DUPLICATE_STATE_NAME', `Duplicate State name: ${name}`, `${location}/States/${name}`);
      }
      names.add(name);
      const label = isJsonObject(state) ? state.Label : undefined;
      if (label === undefined) continue;
      if (labels.has(label)) {
        report.add(
          'DUPLICATE_LABEL_NAME',
          `Duplicate Label: ${String(label)}`,
          `${location}/States/${name}/Label`,
        );
      }
      labels.add(label);
    }
  }
}

function pathText(path: (string | number)[]): string {
  return path.map((each) => (typeof each === 'number' ? `[${each}]` : `/${each}`)).join('');
}
