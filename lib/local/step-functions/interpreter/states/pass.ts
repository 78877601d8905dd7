/** Pass: its output is its input, unless Output says otherwise. */
import type { PassState } from '../../../../asl/types.ts';
import type { Transition, Visit } from '../execution.ts';
import { leaveState } from '../exit.ts';

export function runPass(visit: Visit<PassState>): Promise<Transition> {
  return leaveState(visit, visit.state, visit.input);
}
