/**
 * What `cdk synth` writes: the manifest, a stack's template, and where its assets lie. Read as it is; nothing of the CDK is
 * loaded.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../lib/blueprint/json.ts';

export interface Assembly {
  stackName: string;
  template: JsonObject;
  /** Absolute path of an asset's folder or file, by its object key (`<hash>.zip`); undefined: there is none of that key. */
  assetOf(objectKey: string): string | undefined;
}

/** Throws where the folder holds no cloud assembly, or not exactly one stack. */
export function readAssembly(folder: string): Assembly {
  const manifest = readJson(join(folder, 'manifest.json'));
  const artifacts = Object.entries(objectAt(manifest, 'artifacts'));
  const stacks = artifacts.filter(([, artifact]) => typeOf(artifact) === 'aws:cloudformation:stack');
  const [first] = stacks;
  if (first === undefined || stacks.length > 1) {
    throw new Error(`${folder}: the rehearsal deploys one stack, and here are ${stacks.length}`);
  }
  const [id, artifact] = first;
  const properties = objectAt(artifact, 'properties');
  const assets = new Map<string, string>();
  for (const [, other] of artifacts) {
    if (typeOf(other) === 'cdk:asset-manifest')
      readAssets(folder, String(objectAt(other, 'properties').file), assets);
  }
  return {
    stackName: typeof properties.stackName === 'string' ? properties.stackName : id,
    template: readJson(join(folder, String(properties.templateFile))),
    assetOf: (key) => assets.get(key),
  };
}

function readAssets(folder: string, file: string, into: Map<string, string>): void {
  for (const asset of Object.values(objectAt(readJson(join(folder, file)), 'files'))) {
    const path = objectAt(asset, 'source').path;
    for (const destination of Object.values(objectAt(asset, 'destinations'))) {
      const key = isJsonObject(destination) ? destination.objectKey : undefined;
      if (typeof key === 'string' && typeof path === 'string') into.set(key, join(folder, path));
    }
  }
}

function typeOf(artifact: Json): Json | undefined {
  return isJsonObject(artifact) ? artifact.type : undefined;
}

/** An object of an object; an absent one is empty. */
function objectAt(value: Json | undefined, name: string): JsonObject {
  const found = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(found) ? found : {};
}

function readJson(path: string): JsonObject {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isJsonObject(value)) throw new Error(`${path} is no JSON object`);
  return value;
}
