/**
 * What an API of AWS's JSON protocol answers when it refuses: an error type and AWS's sentence for it. Anything else that an
 * operation throws is a fault of ours and leaves without its text.
 */
export class ApiError extends Error {
  /** The `__type` on the wire, e.g. `ExecutionDoesNotExist`. */
  readonly type: string;
  readonly statusCode: number;

  constructor(type: string, message: string, statusCode = 400) {
    super(message);
    this.name = type;
    this.type = type;
    this.statusCode = statusCode;
  }
}
