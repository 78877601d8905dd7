/**
 * What Lambda would refuse when the function is made, however well it runs here.
 * Source: Lambda developer guide, "Lambda quotas".
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MAX_ENVIRONMENT_BYTES = 4 * 1024;
const MAX_UNZIPPED_BYTES = 250 * 1024 * 1024;

/** Throws, with the number, where the template's variables or the unzipped asset are too large. */
export function checkLambdaLimits(
  label: string,
  variables: Readonly<Record<string, string>>,
  folder: string,
): void {
  const environment = Buffer.byteLength(JSON.stringify(variables));
  if (environment > MAX_ENVIRONMENT_BYTES) {
    throw new Error(
      `${label}: its environment is ${environment} bytes of JSON; Lambda takes ${MAX_ENVIRONMENT_BYTES}`,
    );
  }
  const unzipped = bytesBelow(folder);
  if (unzipped > MAX_UNZIPPED_BYTES) {
    throw new Error(`${label}: its asset is ${unzipped} bytes unzipped; Lambda takes ${MAX_UNZIPPED_BYTES}`);
  }
}

function bytesBelow(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += bytesBelow(path);
    else if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}
