/**
 * A time limit for work on what a server sent, while nothing else happens in this process. A JSON Schema can be written to be
 * slow (patterns that backtrack, references that double with every level), and so can YAML; nothing in them says so before
 * it is tried.
 */
import { createContext, Script } from 'node:vm';

const box: { work?: () => unknown } = createContext({});
const script = new Script('work()');

/** Runs synchronous work; undefined where it did not end within `ms` (it is broken off). What it throws is thrown. */
export function withinTime<T>(ms: number, work: () => T): { value: T } | undefined {
  box.work = work;
  try {
    return { value: script.runInContext(box, { timeout: ms }) as T };
  } catch (error) {
    // It is an Error of the other context, so `instanceof` does not know it.
    if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return undefined;
  } finally {
    delete box.work;
  }
}
