/**
 * Wildcards of Action, Resource and condition values: `*` is any text, also none, `?` is one character.
 *
 * Actions are compared without regard to case, resources and values with it. In an ARN only the part after the fifth colon may
 * hold wildcards here: how far one reaches in the others is told in words that can be read two ways, so they are refused.
 * Source: IAM user guide, "IAM JSON policy elements: Action", "... Resource", "... Condition operators" (ARN operators).
 */
import { UnknownToRehearsal } from './refusal.ts';

/** Whether `text` is one of the texts that `pattern` describes. Linear in practice: no regular expression backtracks here. */
export function matchesPattern(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let retry = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p;
      p += 1;
      retry = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (star !== -1) {
      p = star + 1;
      retry += 1;
      t = retry;
    } else return false;
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}

export function matchesAction(pattern: string, action: string): boolean {
  return matchesPattern(pattern.toLowerCase(), action.toLowerCase());
}

/** Throws where an Action has a shape that is not judged: a wildcard in the service, or no service at all. */
export function checkAction(pattern: string, place: string): void {
  if (pattern === '*' || /^[a-z0-9-]+:[A-Za-z0-9*?]+$/.test(pattern)) return;
  throw new UnknownToRehearsal(
    place,
    JSON.stringify(pattern),
    '"*", or "service:Name" with wildcards in the name',
  );
}

/** An ARN as its six parts; undefined where it has fewer. The last part keeps its colons. */
function partsOf(arn: string): { head: string; rest: string } | undefined {
  const parts = arn.split(':');
  if (parts.length < 6 || parts[0] !== 'arn') return undefined;
  return { head: parts.slice(0, 5).join(':'), rest: parts.slice(5).join(':') };
}

/** Throws where a Resource or an ARN in a condition has a shape that is not judged. */
export function checkArnPattern(pattern: string, place: string): void {
  if (pattern === '*') return;
  const parts = partsOf(pattern);
  if (parts === undefined || /[*?]/.test(parts.head) || parts.rest === '') {
    throw new UnknownToRehearsal(
      place,
      JSON.stringify(pattern),
      '"*", or an ARN whose first five parts hold no wildcard',
    );
  }
}

/** Whether a resource is one that a checked Resource element means. */
export function matchesArn(pattern: string, arn: string): boolean {
  if (pattern === '*') return true;
  const wanted = partsOf(pattern);
  const given = partsOf(arn);
  if (wanted === undefined || given === undefined) return false;
  return wanted.head === given.head && matchesPattern(wanted.rest, given.rest);
}
