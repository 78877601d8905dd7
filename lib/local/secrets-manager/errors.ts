/** The refusals of the Secrets Manager API. Texts hold names and version ids, never a value. */
import { ApiError } from '../api-error.ts';

export function validationException(message: string): ApiError {
  return new ApiError('ValidationException', message);
}

export function invalidParameter(message: string): ApiError {
  return new ApiError('InvalidParameterException', message);
}

export function invalidRequest(message: string): ApiError {
  return new ApiError('InvalidRequestException', message);
}

export function secretExists(name: string): ApiError {
  return new ApiError(
    'ResourceExistsException',
    `The operation failed because the secret ${name} already exists.`,
  );
}

/** A version is never rewritten. */
export function versionExists(id: string): ApiError {
  return new ApiError(
    'ResourceExistsException',
    `You can't modify the existing version ${id}. To store a new value, create a new version.`,
  );
}

export function secretNotFound(): ApiError {
  return new ApiError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
}

export function valueNotFound(what: string): ApiError {
  return new ApiError(
    'ResourceNotFoundException',
    `Secrets Manager can't find the specified secret value for ${what}`,
  );
}
