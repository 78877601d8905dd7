/** Properties of a resource, read strictly: one that nobody here has thought of is refused with its name. */
import { isJsonObject, type Json, type JsonObject } from '../../lib/blueprint/json.ts';
import { UnknownToRehearsal } from '../iam/refusal.ts';
import type { Resource } from '../template/template.ts';

/**
 * Throws where a resource has a property that is in neither list. `ignored` are those that nothing here can act on: they say how
 * AWS keeps, names or shows the resource, not what it does.
 */
export function checkProperties(
  resource: Resource,
  used: readonly string[],
  ignored: readonly string[] = [],
): void {
  for (const name of Object.keys(resource.properties)) {
    if (!used.includes(name) && !ignored.includes(name) && name !== 'Tags') {
      throw new UnknownToRehearsal(
        `${resource.logicalId}/${name}`,
        `this property of ${resource.type}`,
        [...used, ...ignored].join(', '),
      );
    }
  }
}

export function textOf(resource: Resource, name: string): string {
  const value = optionalText(resource, name);
  if (value !== undefined) return value;
  throw new UnknownToRehearsal(`${resource.logicalId}/${name}`, 'nothing', 'a text');
}

export function optionalText(resource: Resource, name: string): string | undefined {
  const value = resource.properties[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new UnknownToRehearsal(`${resource.logicalId}/${name}`, JSON.stringify(value), 'a text');
}

export function objectOf(resource: Resource, name: string): JsonObject {
  const value = resource.properties[name] ?? {};
  if (isJsonObject(value)) return value;
  throw new UnknownToRehearsal(`${resource.logicalId}/${name}`, JSON.stringify(value), 'an object');
}

export function listOf(resource: Resource, name: string): Json[] {
  const value = resource.properties[name] ?? [];
  if (Array.isArray(value)) return value;
  throw new UnknownToRehearsal(`${resource.logicalId}/${name}`, JSON.stringify(value), 'a list');
}

/** CloudFormation's names as the API has them: `IncludeExecutionData` → `includeExecutionData`, all the way down. */
export function lowerCamel(value: Json): Json {
  if (Array.isArray(value)) return value.map(lowerCamel);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key.charAt(0).toLowerCase() + key.slice(1),
      lowerCamel(each),
    ]),
  );
}
