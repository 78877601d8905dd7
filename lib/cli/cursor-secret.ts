/**
 * The key that cursors are authenticated with. Cursors outlive a restart, so it does too; it never leaves the data folder,
 * and a file that holds anything but a whole key (a write that was cut short) is replaced: an empty key is one that anybody
 * has.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const KEY_BYTES = 32;
const KEY = /^[A-Za-z0-9_-]{43}$/;

/** Reads the key of a data folder that exists, or makes one. Rejects with Node's error where it can do neither. */
export async function readCursorSecret(dataDir: string): Promise<string> {
  const file = join(dataDir, 'cursor-secret');
  const found = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (KEY.test(found)) return found;
  const secret = randomBytes(KEY_BYTES).toString('base64url');
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, secret, { mode: 0o600 });
  await rename(draft, file);
  return secret;
}
