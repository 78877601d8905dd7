/**
 * The nearest known name to one that is not known, for "Did you mean ...?". It answers nothing rather than something
 * far off: a wrong guess costs an author more than none.
 */

/** Names longer than this are compared by their first characters only, so that no input makes this slow. */
const MAX_COMPARED = 64;

/**
 * The candidate nearest to `name`, or undefined where none is near. Near is two fifths of the length in edits (insert,
 * delete, replace, swap of neighbours), letter case counting half; of equals the first wins. A candidate that has the
 * name as its first or last part, or the other way round, is near too (`pods` and `list-pods`), and so is one that a part
 * of the name abbreviates (`list-ns` and `namespaces`).
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name === '') return undefined;
  const wanted = name.slice(0, MAX_COMPARED);
  // Of one or two letters only the case is forgiven: any other such name would be near.
  const limit = wanted.length < 3 ? 0.5 : Math.max(1, Math.floor(wanted.length / 2.5));
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = distanceOf(wanted, candidate.slice(0, MAX_COMPARED), Math.min(limit, bestDistance));
    if (distance <= limit && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? partOf(wanted, candidates) ?? abbreviatedBy(wanted, candidates);
}

/** Up to `limit` names, quoted, for a message: `"a", "b" and 3 more`. `none` where there is no name. */
export function listNames(names: readonly string[], limit = 8): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, limit).map((name) => `"${name}"`);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** The first candidate that is the name with parts added or left out at its beginning or end: `pods`, `list-pods`. */
function partOf(name: string, candidates: Iterable<string>): string | undefined {
  for (const candidate of candidates) {
    const [short, long] = [name.toLowerCase(), candidate.toLowerCase()].sort((a, b) => a.length - b.length);
    if (short === undefined || long === undefined || short.length < 3) continue;
    const starts = long.startsWith(short) && /[-_]/.test(long.charAt(short.length));
    const ends = long.endsWith(short) && /[-_]/.test(long.charAt(long.length - short.length - 1));
    if (starts || ends) return candidate;
  }
  return undefined;
}

/** The first candidate that begins and ends as a part of the name does and holds its letters in order: `ns`. */
function abbreviatedBy(name: string, candidates: Iterable<string>): string | undefined {
  const parts = name
    .toLowerCase()
    .split(/[-_]/)
    .filter((part) => part.length >= 2);
  for (const candidate of candidates) {
    const known = candidate.toLowerCase().slice(0, MAX_COMPARED);
    if (parts.some((part) => abbreviates(part, known))) return candidate;
  }
  return undefined;
}

function abbreviates(part: string, known: string): boolean {
  if (part.charAt(0) !== known.charAt(0) || part.at(-1) !== known.at(-1)) return false;
  let next = 0;
  for (const letter of known) if (letter === part.charAt(next)) next++;
  return next >= part.length;
}

/** Optimal string alignment distance; stops early once it must be over `limit`. A change of letter case costs a half. */
function distanceOf(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      let cost = at(last, j - 1) + replaceCost(a.charAt(i - 1), b.charAt(j - 1));
      cost = Math.min(cost, at(last, j) + 1, at(row, j - 1) + 1);
      const swapped = a.charAt(i - 1) === b.charAt(j - 2) && a.charAt(i - 2) === b.charAt(j - 1);
      if (i > 1 && j > 1 && swapped) cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      row.push(cost);
      smallest = Math.min(smallest, cost);
    }
    if (smallest > limit) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function replaceCost(a: string, b: string): number {
  if (a === b) return 0;
  return a.toLowerCase() === b.toLowerCase() ? 0.5 : 1;
}

function at(row: number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
