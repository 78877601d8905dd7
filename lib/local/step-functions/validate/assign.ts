/** Assign, wherever it stands: the names that it gives variables. */
import { isJsonObject, type JsonObject } from '../../../blueprint/json.ts';
import { checkType } from './fields.ts';
import type { Surroundings } from './surroundings.ts';

/** Names of variables: identifiers of up to 80 characters, not `states`. */
export function checkAssign(owner: JsonObject, location: string, around: Surroundings): void {
  if (!checkType(owner, 'Assign', 'object', location, around.report)) return;
  if (!isJsonObject(owner.Assign)) return;
  for (const name of Object.keys(owner.Assign)) {
    const plain = name.endsWith('.$') ? name.slice(0, -2) : name;
    if (!/^[\p{ID_Start}][\p{ID_Continue}]*$/u.test(plain) || plain.length > 80 || plain === 'states') {
      around.report.schema(`The variable name '${plain}' is not valid`, `${location}/Assign`);
    }
  }
}
