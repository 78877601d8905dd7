/**
 * Occurrence paths: where in a run something happened. Each loop around a step adds `LOOPID/00012/`; parallel, pipe and
 * collect add nothing, because step ids are unique in a blueprint.
 *
 *     pods/00012/containers/00003/describe      prefix `pods/00012/containers/00003/`, step `describe`
 */

/** Digits of an index in a path; more than 99,999 items need a sixth, which sorts after them all the same. */
const INDEX_DIGITS = 5;

/** `pods`, 12 → `pods/00012/`. */
export function iterationOf(loop: string, index: number): string {
  return `${loop}/${String(index).padStart(INDEX_DIGITS, '0')}/`;
}

/** The iterations of a prefix, outermost first. */
export function iterationsOf(prefix: string): { loop: string; index: number }[] {
  const parts = prefix.split('/');
  const iterations: { loop: string; index: number }[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [loop, index] = [parts[i], parts[i + 1]];
    if (loop !== undefined && index !== undefined) iterations.push({ loop, index: Number(index) });
  }
  return iterations;
}

/** The prefix that a step with `loops` loops around it has, seen from a place with `prefix` inside the same items. */
export function prefixAtDepth(prefix: string, loops: number): string {
  let end = 0;
  for (let i = 0; i < loops; i += 1) {
    const afterLoop = prefix.indexOf('/', end);
    const afterIndex = afterLoop === -1 ? -1 : prefix.indexOf('/', afterLoop + 1);
    if (afterIndex === -1) throw new Error(`the path ${prefix} has fewer than ${loops} iterations`);
    end = afterIndex + 1;
  }
  return prefix.slice(0, end);
}
