/**
 * How many requests a minute one principal may send. It is asked at every request and a function's start waits for it, so it stands
 * apart from the other limits (admission.ts): one write, and nothing else of the engine is loaded for it.
 */
import { countRequest, untilNextMinute } from '../store/limits.ts';
import type { Principal } from '../store/records.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';

/** Who has used up a minute, so that what they go on sending costs no write. */
interface UsedUp {
  minute: number;
  principals: Set<string>;
}

const usedUp = new WeakMap<EngineEnvironment, UsedUp>();

/** @throws EngineError LimitExceeded with `retryAfterSeconds`, when the principal has used up this minute's requests. */
export async function admitRequest(env: EngineEnvironment, principal: Principal): Promise<void> {
  const limit = env.config.limits.requestsPerMinute;
  const now = env.now();
  const minute = Math.floor(now / 60_000);
  let known = usedUp.get(env);
  if (known?.minute !== minute) {
    known = { minute, principals: new Set() };
    usedUp.set(env, known);
  }
  const { principals } = known;
  if (!principals.has(principal.id)) {
    if (await countRequest(env.store, principal.id, limit, now)) return;
    principals.add(principal.id);
    // Once a minute and process: whoever goes on sending must not fill the log either.
    env.log({ level: 'warn', event: 'limit-exceeded', limit: 'requests', principal: principal.id });
  }
  throw exceeded(`requests: ${limit} a minute is the most for one principal`, untilNextMinute(now));
}

/** A refusal that says when to try again. */
export function exceeded(what: string, ms: number, joint = ';'): EngineError {
  const retryAfterSeconds = Math.max(1, Math.ceil(ms / 1000));
  return new EngineError('LimitExceeded', `${what}${joint} try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}
