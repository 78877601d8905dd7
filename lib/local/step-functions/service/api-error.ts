/**
 * The refusals of the Step Functions API. Texts are AWS's, as recorded by AWS-validated public tests where such a record exists,
 * otherwise as the API reference words them.
 */
import { ApiError } from '../../api-error.ts';

export function validationException(message: string): ApiError {
  return new ApiError('ValidationException', message);
}

export function invalidArn(reason: string): ApiError {
  return new ApiError('InvalidArn', `Invalid Arn: '${reason}'`);
}

export function invalidName(name: string): ApiError {
  return new ApiError('InvalidName', `Invalid Name: '${name}'`);
}

export function invalidToken(): ApiError {
  return new ApiError('InvalidToken', "Invalid Token: 'Invalid token'");
}

export function stateMachineDoesNotExist(arn: string): ApiError {
  return new ApiError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
}

export function stateMachineAlreadyExists(arn: string): ApiError {
  return new ApiError('StateMachineAlreadyExists', `State Machine Already Exists: '${arn}'`);
}

export function stateMachineDeleting(arn: string): ApiError {
  return new ApiError('StateMachineDeleting', `State Machine is being deleted: '${arn}'`);
}

export function executionDoesNotExist(arn: string): ApiError {
  return new ApiError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
}

export function executionAlreadyExists(arn: string): ApiError {
  return new ApiError('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`);
}

export function invalidExecutionInput(reason: string): ApiError {
  return new ApiError('InvalidExecutionInput', `Invalid State Machine Execution Input: '${reason}'`);
}

/** The reasons are those that DescribeExecution documents as `redriveStatusReason`. */
export function executionNotRedrivable(reason: string): ApiError {
  return new ApiError('ExecutionNotRedrivable', reason);
}

export function resourceNotFound(arn: string): ApiError {
  return new ApiError('ResourceNotFound', `Resource not found: '${arn}'`);
}
