/** A schedule expression or a time zone that AWS would not take. The message names the place, what came and what would do. */
export class ScheduleExpressionError extends Error {
  override readonly name = 'ScheduleExpressionError';
}
