/** Succeed: ends its lane. */
import type { SucceedState } from '../../../../asl/types.ts';
import type { Transition, Visit } from '../execution.ts';
import { leaveState } from '../exit.ts';

export function runSucceed(visit: Visit<SucceedState>): Promise<Transition> {
  const { Output } = visit.state;
  return leaveState(visit, Output === undefined ? {} : { Output }, visit.input);
}
