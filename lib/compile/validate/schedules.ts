/**
 * The schedules that stand in a blueprint: only where the deployment owns it, for they are made with it and by nobody else. Which
 * times lie ahead is not looked at, for the same file is deployed again and again.
 */
import { childPointer, quoteValue } from '../../blueprint/diagnostics.ts';
import { isJsonObject, type Json } from '../../blueprint/json.ts';
import { resolveParams } from '../../blueprint/params.ts';
import type { ParamDeclaration } from '../../blueprint/types.ts';
import { parseSchedule } from '../../schedule/expression.ts';
import { ScheduleExpressionError } from '../../schedule/schedule-error.ts';
import { checkTimezone } from '../../schedule/timezone.ts';
import type { Outline } from './outline.ts';
import type { Report } from './report.ts';

export function checkSchedules({ blueprint }: Outline, stackOwned: boolean, report: Report): void {
  const { schedules } = blueprint;
  if (schedules === undefined) return;
  if (!stackOwned) {
    report.add('BP121', '/schedules', {
      message:
        'schedules stand only in blueprints that ship with the deployment; save without and call schedule_workflow',
      got: quoteValue(schedules),
      expected: 'no "schedules"',
    });
    return;
  }
  if (!Array.isArray(schedules)) return;
  const declared = declarationsOf(blueprint.params, report);
  const names = new Set<string>();
  for (const [i, schedule] of schedules.entries()) {
    if (!isJsonObject(schedule)) continue;
    const pointer = childPointer('/schedules', i);
    const { name } = schedule;
    if (typeof name === 'string' && names.has(name)) {
      report.add('BP207', `${pointer}/name`, {
        message: `another schedule is named "${name.slice(0, 80)}"`,
        got: quoteValue(name),
      });
    } else if (typeof name === 'string') names.add(name);
    checkText(`${pointer}/schedule`, schedule.schedule, parseSchedule, report);
    checkText(`${pointer}/timezone`, schedule.timezone, checkTimezone, report);
    if (declared !== undefined) checkParams(pointer, declared, schedule.params, report);
  }
}

/** Undefined where they are not declared as they must be: then nothing can be said of what is given. */
function declarationsOf(
  params: Json | undefined,
  report: Report,
): Record<string, ParamDeclaration> | undefined {
  if (params === undefined) return {};
  const faulty = report.diagnostics.some(
    ({ pointer }) => pointer === '/params' || pointer.startsWith('/params/'),
  );
  return faulty ? undefined : (params as unknown as Record<string, ParamDeclaration>);
}

function checkText(
  pointer: string,
  value: Json | undefined,
  check: (text: string) => unknown,
  report: Report,
): void {
  if (typeof value !== 'string') return;
  try {
    check(value);
  } catch (error) {
    if (!(error instanceof ScheduleExpressionError)) throw error;
    report.add('BP122', pointer, { message: error.message, got: quoteValue(value) });
  }
}

function checkParams(
  pointer: string,
  declared: Record<string, ParamDeclaration>,
  given: Json | undefined,
  report: Report,
): void {
  if (given !== undefined && !isJsonObject(given)) return;
  for (const problem of resolveParams(declared, given).problems) {
    const got = given === undefined ? 'nothing' : quoteValue(given);
    report.add('BP123', `${pointer}/params`, { message: problem.replace(/^params\/?/, ''), got });
  }
}
