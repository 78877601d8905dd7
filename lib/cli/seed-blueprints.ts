/**
 * The blueprints that ship with the product, on one machine: saved as a deployment would publish them, owned by the stack and
 * read-only to agents, sub-workflows first. Unlike a deployment it takes what saving takes: a bare tool's name binds when it runs.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../blueprint/json.ts';
import type { Blueprint, BlueprintSchedule } from '../blueprint/types.ts';
import type { EngineEnvironment } from '../engine/environment.ts';
import { EngineError } from '../engine/errors.ts';
import { STACK_PRINCIPAL } from '../engine/principals.ts';
import { saveBlueprint } from '../engine/save.ts';
import { subWorkflowsFirst } from '../engine/stack-documents.ts';
import { dropSchedulesOfOthers, syncStackSchedules } from '../engine/stack-schedules.ts';
import { liveHead } from '../engine/workflows.ts';
import { readBlueprintFile } from './blueprint-file.ts';
import { CliError } from './exit-codes.ts';

/** Saves those of a folder; unchanged ones cost a read. @throws CliError that names the file and its faults */
export async function seedBlueprints(env: EngineEnvironment, folder: string): Promise<void> {
  const read: { file: string; json: Json }[] = [];
  for (const name of await blueprintFiles(folder)) {
    const file = join(folder, name);
    // Whatever is wrong with the file: what did not happen is that the engine started.
    const json = await readBlueprintFile(file).catch((cause: unknown) => {
      throw cause instanceof CliError ? new CliError(cause.message, undefined, { cause }) : cause;
    });
    read.push({ file, json });
  }
  const shipped = new Set<string>();
  for (const { file, json } of subWorkflowsFirst(read)) {
    try {
      const { id } = await saveBlueprint(env, STACK_PRINCIPAL, json, { readOnly: true });
      await syncStackSchedules(env, await liveHead(env, id), schedulesOf(json));
      shipped.add(id);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const faults = error.diagnostics.filter((d) => d.severity === 'error').map((d) => d.message);
      throw new CliError([`${file}: ${error.message}`, ...faults].join('\n  '), undefined, { cause: error });
    }
  }
  await dropSchedulesOfOthers(env, shipped);
}

/** Of a blueprint that has been saved, and so is valid. */
function schedulesOf(blueprint: Json): readonly BlueprintSchedule[] {
  return (blueprint as unknown as Blueprint).schedules ?? [];
}

async function blueprintFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.json'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(`blueprints folder ${folder}: it cannot be read (${code})`, undefined, { cause });
  }
}
