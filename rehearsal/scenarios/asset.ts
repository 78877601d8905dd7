/** What lies in call-tool's asset is what the `filesystem` server sees; a scenario may put a file there. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stage } from '../stage.ts';

/** Puts a file where the server's paths begin. */
export function putFile(stage: Stage, name: string, content: string | Uint8Array): Promise<void> {
  return writeFile(join(callToolFolder(stage), name), content);
}

/** The asset of the function that the template calls call-tool. */
function callToolFolder({ deployment: { world } }: Stage): string {
  for (const { logicalId, type } of world.template.order) {
    if (type !== 'AWS::Lambda::Function') continue;
    const { Code, FunctionName } = world.template.resourceOf(logicalId).properties;
    const { S3Key: key } = Code as { S3Key?: string };
    const folder = world.assembly.assetOf(key ?? '');
    if (folder !== undefined && String(FunctionName).endsWith('call-tool')) return folder;
  }
  throw new Error('the template has no call-tool');
}
