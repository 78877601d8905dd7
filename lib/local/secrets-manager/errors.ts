/**
 * What the Secrets Manager API answers when it refuses: an error type and AWS's sentence for it. Texts hold names and version
 * ids, never a value.
 */
export class SecretsManagerError extends Error {
  /** The `__type` on the wire, e.g. `ResourceNotFoundException`. */
  readonly type: string;
  readonly statusCode: number;

  constructor(type: string, message: string, statusCode = 400) {
    super(message);
    this.name = type;
    this.type = type;
    this.statusCode = statusCode;
  }
}

export function validationException(message: string): SecretsManagerError {
  return new SecretsManagerError('ValidationException', message);
}

export function invalidParameter(message: string): SecretsManagerError {
  return new SecretsManagerError('InvalidParameterException', message);
}

export function invalidRequest(message: string): SecretsManagerError {
  return new SecretsManagerError('InvalidRequestException', message);
}

export function secretExists(name: string): SecretsManagerError {
  return new SecretsManagerError(
    'ResourceExistsException',
    `The operation failed because the secret ${name} already exists.`,
  );
}

/** A version is never rewritten. */
export function versionExists(id: string): SecretsManagerError {
  return new SecretsManagerError(
    'ResourceExistsException',
    `You can't modify the existing version ${id}. To store a new value, create a new version.`,
  );
}

export function secretNotFound(): SecretsManagerError {
  return new SecretsManagerError(
    'ResourceNotFoundException',
    "Secrets Manager can't find the specified secret.",
  );
}

export function valueNotFound(what: string): SecretsManagerError {
  return new SecretsManagerError(
    'ResourceNotFoundException',
    `Secrets Manager can't find the specified secret value for ${what}`,
  );
}
