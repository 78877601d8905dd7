/** S3's error answers: code, status and AWS's own message. Source: S3 API reference, "Error responses". */

const STATUS = {
  AccessDenied: 403,
  BadDigest: 400,
  BucketAlreadyOwnedByYou: 409,
  BucketNotEmpty: 409,
  EntityTooLarge: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidDigest: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  KeyTooLongError: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  XAmzContentSHA256Mismatch: 400,
} as const;

export type S3ErrorCode = keyof typeof STATUS;

/** An S3 request that is answered with an error. */
export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly status: number;
  /** Further elements of the answer, e.g. `Condition`. */
  readonly detail: Record<string, string>;

  constructor(code: S3ErrorCode, message: string, detail: Record<string, string> = {}) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = STATUS[code];
    this.detail = detail;
  }
}
