/**
 * What an evaluation may build and look at.
 *
 * Everything built is paid for before it exists: 8 bytes an element, a key's length, a string's length. What was
 * built only to come to a scalar (a filter's condition, an argument of `length`) is given back, so the limit bounds
 * what is alive at once, not what was ever made. Looking costs too: data that is shared can be far larger walked than
 * held, so elements visited are counted against a limit of their own, and what was built and given back counts as well:
 * 64 bytes take about as long to write as an element to visit.
 */
import { MAX_EVALUATION_BYTES } from '../blueprint/limits.ts';
import { EvaluationError } from './errors.ts';

/** Elements that one evaluation may visit: some seconds of work, and more than a join of two lists of 20,000 needs. */
export const MAX_EVALUATION_VISITS = 25_000_000;

/** Bytes that are built in the time of a visit. */
const BYTES_A_VISIT = 64;

export interface Budget {
  readonly maxBytes: number;
  /** Pays for what is about to be built. Throws EvaluationError of kind ResultTooLarge. */
  spend(bytes: number): void;
  /** Counts elements about to be looked at. Throws EvaluationError of kind TemplateError. */
  visit(elements: number): void;
  /** What is held now; hand it to `release` to give back everything spent since. */
  mark(): number;
  release(mark: number): void;
  /** Moves what was spent since the mark to what is held until the end. */
  keep(mark: number): void;
}

/** A budget for one evaluation, or for several that go into one value. Default 16 MiB. */
export function createBudget(maxBytes: number = MAX_EVALUATION_BYTES): Budget {
  let held = 0;
  let kept = 0;
  let visits = 0;
  let built = 0;
  return {
    maxBytes,
    spend(bytes) {
      held += bytes;
      built += bytes;
      if (held + kept > maxBytes) throw tooLarge(maxBytes);
      if (visits + built / BYTES_A_VISIT > MAX_EVALUATION_VISITS) throw tooMuchWork();
    },
    visit(elements) {
      visits += elements;
      if (visits + built / BYTES_A_VISIT > MAX_EVALUATION_VISITS) throw tooMuchWork();
    },
    mark: () => held,
    release(mark) {
      held = mark;
    },
    keep(mark) {
      kept += held - mark;
      held = mark;
    },
  };
}

function tooMuchWork(): EvaluationError {
  return new EvaluationError(`looks at more than ${MAX_EVALUATION_VISITS.toLocaleString('en')} elements`);
}

export function tooLarge(maxBytes: number): EvaluationError {
  const limit = maxBytes >= 1024 * 1024 ? `${maxBytes / (1024 * 1024)} MiB` : `${maxBytes} bytes`;
  return new EvaluationError(`builds a value of more than ${limit}`, 'ResultTooLarge');
}
