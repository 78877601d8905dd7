/** Calling a function through the host, and Lambda's failures as Step Functions names them. */
import type { Json } from '../../../../blueprint/json.ts';
import { type LambdaRequest, type LambdaResponse, LambdaServiceError } from '../../contract.ts';
import { StateError } from '../failure.ts';
import type { TaskCall } from './task-call.ts';

/**
 * @returns the answer of a function that ended well
 * @throws StateError with the function's own error type, or `Lambda.NAME` where the service refused
 */
export async function invokeFunction(
  call: TaskCall,
  request: LambdaRequest,
  causeText: (payload: string) => string,
): Promise<LambdaResponse> {
  let response: LambdaResponse;
  try {
    response = await call.visit.execution.host.invokeLambda(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw serviceFailure(error);
  }
  if (response.functionError === undefined) return response;
  throw new StateError(errorType(response.payload), causeText(response.payload));
}

function errorType(payload: string): string {
  const parsed = tryParse(payload);
  const type =
    typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed.errorType : undefined;
  return typeof type === 'string' && type !== '' ? type : 'Lambda.Unknown';
}

function serviceFailure(error: unknown): StateError {
  if (error instanceof LambdaServiceError) {
    const { name, message, statusCode, requestId } = error;
    return new StateError(
      `Lambda.${name}`,
      `${message} (Service: AWSLambda; Status Code: ${statusCode}; Error Code: ${name}; Request ID: ${requestId}; Proxy: null)`,
    );
  }
  return new StateError('Lambda.SdkClientException', error instanceof Error ? error.message : String(error));
}

/** The value of a JSON text, or undefined where it is none. */
export function tryParse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
