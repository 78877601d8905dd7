/**
 * The secrets of the data folder: a file a secret, named by the hash of its name, readable by its user alone, replaced in
 * one step. What is acknowledged is written. Changes follow one another, so a condition that was checked still holds when its
 * change is written.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hashOf, readIfPresent, replaceFile } from '../step-functions/service/storage/files.ts';
import { secretNotFound } from './errors.ts';
import type { Secret } from './versions.ts';

export interface Secrets {
  /**
   * By name, ARN, or ARN without its random suffix. What is answered must not be changed.
   * @throws ApiError ResourceNotFoundException
   */
  find(id: string): Readonly<Secret>;
  has(name: string): boolean;
  /** Keeps a new secret. Of two with one name at once `build` of the second sees the first by `has`. */
  create(build: () => { secret: Secret; answer: object }): Promise<object>;
  /** Changes a copy of the secret, writes it, and only then answers. */
  change<T>(id: string, apply: (secret: Secret) => T): Promise<T>;
}

const FILE = /^[0-9a-f]{64}\.json$/;
/** AWS adds a hyphen and six characters to a secret's name in its ARN. */
const SUFFIX_LENGTH = 7;

export async function openSecrets(folder: string): Promise<Secrets> {
  const secrets = new Map<string, Secret>();
  for (const name of await readdir(folder)) {
    if (!FILE.test(name)) continue;
    const text = await readIfPresent(join(folder, name));
    if (text === undefined) continue;
    const secret = JSON.parse(text) as Secret;
    secrets.set(secret.name, secret);
  }
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  const keep = async (secret: Secret): Promise<void> => {
    await replaceFile(join(folder, `${hashOf(secret.name)}.json`), JSON.stringify(secret));
    secrets.set(secret.name, secret);
  };
  const find = (id: string): Secret => {
    const byName = secrets.get(id);
    if (byName !== undefined) return byName;
    for (const secret of secrets.values()) {
      if (secret.arn === id || secret.arn.slice(0, -SUFFIX_LENGTH) === id) return secret;
    }
    throw secretNotFound();
  };
  return {
    find,
    has: (name) => secrets.has(name),
    create: (build) =>
      inTurn(async () => {
        const { secret, answer } = build();
        await keep(secret);
        return answer;
      }),
    change: (id, apply) =>
      inTurn(async () => {
        const secret = structuredClone(find(id));
        const answer = apply(secret);
        await keep(secret);
        return answer;
      }),
  };
}
