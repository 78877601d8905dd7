/** Wait: for a number of seconds, or until a point in time. A redriven Wait waits anew. */
import type { WaitState } from '../../../../asl/types.ts';
import { evaluate, evaluateNumber, evaluationFailed, unexpectedType } from '../evaluate.ts';
import { pause, type Transition, type Visit } from '../execution.ts';
import { leaveState } from '../exit.ts';

/** Source: Amazon States Language in the developer guide, "Wait": 0 to 99,999,999. */
const MAX_SECONDS = 99_999_999;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

export async function runWait(visit: Visit<WaitState>): Promise<Transition> {
  const { clock } = visit.execution.host;
  const ms =
    visit.state.Timestamp === undefined ? await seconds(visit) : (await timestamp(visit)) - clock.now();
  if (ms > 0) await pause(visit.lane, ms);
  return leaveState(visit, visit.state, visit.input);
}

async function seconds(visit: Visit<WaitState>): Promise<number> {
  const value = (await evaluateNumber(visit, visit.state.Seconds, 'Seconds')) ?? 0;
  if (!Number.isInteger(value) || value < 0 || value > MAX_SECONDS) {
    throw evaluationFailed(
      visit,
      `The Seconds field must be an integer between 0 and ${MAX_SECONDS} but was: ${value}`,
      'Seconds',
    );
  }
  return value * 1000;
}

async function timestamp(visit: Visit<WaitState>): Promise<number> {
  const template = visit.state.Timestamp ?? '';
  const value = await evaluate(visit, template, 'Timestamp');
  if (typeof value !== 'string') throw unexpectedType(visit, template, 'Timestamp', 'string', value);
  const time = TIMESTAMP.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) {
    throw evaluationFailed(
      visit,
      `The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: ${value}`,
      'Timestamp',
    );
  }
  return time;
}
