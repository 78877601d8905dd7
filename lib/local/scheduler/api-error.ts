/**
 * What the EventBridge Scheduler API answers when it refuses: an error name, AWS's sentence and the HTTP status that the
 * API reference gives the name. Anything else that is thrown is a fault of ours and leaves as `InternalServerException`
 * without its text.
 */
const STATUS = {
  ConflictException: 409,
  InternalServerException: 500,
  ResourceNotFoundException: 404,
  ValidationException: 400,
  UnknownOperationException: 404,
} as const;

export type SchedulerErrorName = keyof typeof STATUS;

export class SchedulerError extends Error {
  override readonly name: SchedulerErrorName;
  readonly statusCode: number;

  constructor(name: SchedulerErrorName, message: string) {
    super(message);
    this.name = name;
    this.statusCode = STATUS[name];
  }
}

export function invalid(message: string): SchedulerError {
  return new SchedulerError('ValidationException', message);
}

export function missing(kind: 'Schedule' | 'Schedule group', name: string): SchedulerError {
  return new SchedulerError('ResourceNotFoundException', `${kind} ${name} does not exist.`);
}

export function conflict(message: string): SchedulerError {
  return new SchedulerError('ConflictException', message);
}
