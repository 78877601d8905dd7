/** What the rules for one state are told of where it stands. */
import type { JsonObject } from '../../../blueprint/json.ts';
import type { Report } from './diagnostic.ts';
import type { FoundReference } from './references.ts';

export type QueryLanguage = 'JSONPath' | 'JSONata';

export interface Surroundings {
  /** Of the whole machine: what states have that say nothing themselves. */
  language: QueryLanguage;
  type: 'STANDARD' | 'EXPRESS';
  report: Report;
  /** What was found in an expression before: compiled machines repeat theirs in every state. */
  expressions: Map<string, Analysis>;
}

export interface Analysis {
  /** Why it does not parse. */
  problem?: string;
  references: FoundReference[];
}

/** A state under check, for the rules of its type. */
export interface StateCheck extends Surroundings {
  state: JsonObject;
  location: string;
  /** The query language of this state. */
  own: QueryLanguage;
}
