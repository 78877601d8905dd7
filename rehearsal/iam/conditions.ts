/**
 * The Condition element: operators, sets, keys that are absent.
 *
 * All operators and all keys must hold; of a key's values one must (of a negated operator: none). A key that the request does not
 * have makes an operator false, a negated one true; `...IfExists` true; `ForAllValues` true, `ForAnyValue` false.
 * Source: IAM user guide, "Condition operators" and "Conditions with multiple context keys or values".
 */
import type { Json } from '../../lib/blueprint/json.ts';
import { isJsonObject } from '../../lib/blueprint/json.ts';
import { checkArnPattern, matchesArn, matchesPattern } from './patterns.ts';
import { UnknownToRehearsal } from './refusal.ts';

/** What a request says beside principal, action and resource. Names of keys are compared without regard to case. */
export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

interface Operator {
  negated: boolean;
  holds(wanted: string, given: string): boolean;
  check?(wanted: string, place: string): void;
  /** Values may be numbers. */
  numeric?: true;
}

export interface Condition {
  /** As written, e.g. `ForAllValues:StringLike`. */
  name: string;
  operator: Operator | 'Null';
  set: 'none' | 'ForAllValues' | 'ForAnyValue';
  ifExists: boolean;
  key: string;
  values: readonly string[];
  place: string;
}

const equals = (wanted: string, given: string): boolean => wanted === given;
const checkBoolean = (wanted: string, place: string): void => {
  if (wanted !== 'true' && wanted !== 'false')
    throw new UnknownToRehearsal(place, JSON.stringify(wanted), '"true" and "false"');
};

const checkNumber = (wanted: string, place: string): void => {
  if (wanted === '' || !Number.isFinite(Number(wanted)))
    throw new UnknownToRehearsal(place, JSON.stringify(wanted), 'numbers');
};

const OPERATORS: Readonly<Record<string, Operator>> = {
  StringEquals: { negated: false, holds: equals },
  StringNotEquals: { negated: true, holds: equals },
  StringLike: { negated: false, holds: matchesPattern },
  StringNotLike: { negated: true, holds: matchesPattern },
  // ArnEquals and ArnLike do the same, says the user guide.
  ArnEquals: { negated: false, holds: matchesArn, check: checkArnPattern },
  ArnLike: { negated: false, holds: matchesArn, check: checkArnPattern },
  ArnNotEquals: { negated: true, holds: matchesArn, check: checkArnPattern },
  ArnNotLike: { negated: true, holds: matchesArn, check: checkArnPattern },
  Bool: { negated: false, holds: equals, check: checkBoolean },
  NumericLessThan: {
    negated: false,
    holds: (wanted, given) => Number(given) < Number(wanted),
    check: checkNumber,
    numeric: true,
  },
};

/** Reads a Condition element; throws `UnknownToRehearsal` for what is not known. */
export function parseConditions(element: Json | undefined, place: string): Condition[] {
  if (element === undefined) return [];
  if (!isJsonObject(element))
    throw new UnknownToRehearsal(place, JSON.stringify(element), 'an object of operators');
  return Object.entries(element).flatMap(([name, keys]) => {
    const at = `${place}/${name}`;
    const { operator, set, ifExists } = parseOperator(name, at);
    if (!isJsonObject(keys))
      throw new UnknownToRehearsal(at, JSON.stringify(keys), 'an object of context keys');
    return Object.entries(keys).map(([key, value]): Condition => {
      const where = `${at}/${key}`;
      const values = (Array.isArray(value) ? value : [value]).map((each) => {
        if (typeof each === 'boolean') return String(each);
        if (typeof each === 'number' && operator !== 'Null' && operator.numeric === true) return String(each);
        if (typeof each !== 'string')
          throw new UnknownToRehearsal(where, JSON.stringify(each), 'strings and booleans');
        refuseVariables(each, where);
        if (operator === 'Null') checkBoolean(each, where);
        else operator.check?.(each, where);
        return each;
      });
      return { name, operator, set, ifExists, key, values, place: where };
    });
  });
}

/** Policy variables (`${aws:username}`) are not filled in here. */
export function refuseVariables(text: string, place: string): void {
  if (text.includes('${'))
    throw new UnknownToRehearsal(place, `the policy variable in ${JSON.stringify(text)}`, 'plain text');
}

function parseOperator(name: string, place: string): Pick<Condition, 'operator' | 'set' | 'ifExists'> {
  const [, set, base = '', ifExists] =
    /^(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?$/.exec(name) ?? [];
  const operator = base === 'Null' ? 'Null' : Object.hasOwn(OPERATORS, base) ? OPERATORS[base] : undefined;
  if (operator === undefined || (operator === 'Null' && (set !== undefined || ifExists !== undefined))) {
    throw new UnknownToRehearsal(place, `the operator ${name}`, `${Object.keys(OPERATORS).join(', ')}, Null`);
  }
  return {
    operator,
    set: set === 'ForAllValues' || set === 'ForAnyValue' ? set : 'none',
    ifExists: ifExists !== undefined,
  };
}

/** Whether all conditions hold; throws where a request's many values meet an operator for one. */
export function conditionsHold(conditions: readonly Condition[], context: RequestContext): boolean {
  return conditions.every((condition) => holds(condition, valuesOf(context, condition)));
}

function valuesOf(context: RequestContext, condition: Condition): readonly string[] | undefined {
  const wanted = condition.key.toLowerCase();
  const found = Object.entries(context).find(([key]) => key.toLowerCase() === wanted)?.[1];
  if (found === undefined) return undefined;
  if (typeof found === 'string') return [found];
  if (condition.set === 'none' && condition.operator !== 'Null') {
    throw new UnknownToRehearsal(
      condition.place,
      `${condition.name} on a key of many values`,
      'ForAllValues and ForAnyValue',
    );
  }
  return found;
}

function holds(condition: Condition, given: readonly string[] | undefined): boolean {
  const { operator, set, values, ifExists } = condition;
  if (operator === 'Null') return values.includes(String(given === undefined || given.length === 0));
  const one = (value: string): boolean => {
    const found = values.some((wanted) => operator.holds(wanted, value));
    return operator.negated ? !found : found;
  };
  if (given === undefined || given.length === 0) {
    if (ifExists || set === 'ForAllValues') return true;
    return set === 'none' && operator.negated;
  }
  return set === 'ForAllValues' ? given.every(one) : given.some(one);
}
