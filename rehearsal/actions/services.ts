/** From a request to a service to what it needs allowed; the table of services. */
import { UnknownToRehearsal } from '../iam/refusal.ts';
import type { Needed, ServiceRequest } from './needed.ts';
import { lambdaNeeds, s3Needs, schedulerNeeds } from './paths.ts';
import { dynamoDbNeeds, secretsNeeds, stepFunctionsNeeds } from './targets.ts';

/** As the SDK names them in `AWS_ENDPOINT_URL_<NAME>`. */
export type ServiceName = 'DYNAMODB' | 'S3' | 'SFN' | 'LAMBDA' | 'SCHEDULER' | 'SECRETS_MANAGER';

export interface KnownNames {
  /** ARN of the secret of that name; throws where there is none. */
  secretArn(name: string): string;
}

/** Throws `UnknownToRehearsal` for a request that no table here has. */
export function neededBy(service: ServiceName, request: ServiceRequest, names: KnownNames): Needed[] {
  switch (service) {
    case 'DYNAMODB':
      return dynamoDbNeeds(operationOf(request, 'DynamoDB_20120810.'), request.body);
    case 'SFN':
      return stepFunctionsNeeds(operationOf(request, 'AWSStepFunctions.'), request.body);
    case 'SECRETS_MANAGER':
      return secretsNeeds(operationOf(request, 'secretsmanager.'), request.body, (name) =>
        names.secretArn(name),
      );
    case 'S3':
      return s3Needs(request);
    case 'LAMBDA':
      return lambdaNeeds(request);
    case 'SCHEDULER':
      return schedulerNeeds(request);
  }
}

/** Services whose requests must be read whole to know what they ask. */
export function readsBody(service: ServiceName): boolean {
  return service !== 'S3' && service !== 'LAMBDA';
}

function operationOf(request: ServiceRequest, prefix: string): string {
  const target = request.headers['x-amz-target'] ?? '';
  if (!target.startsWith(prefix)) {
    throw new UnknownToRehearsal(
      'X-Amz-Target',
      JSON.stringify(target),
      `operations that begin with ${prefix}`,
    );
  }
  return target.slice(prefix.length);
}

/** The access key id of a SigV4 `Authorization` header: `AWS4-HMAC-SHA256 Credential=KEY/20260101/us-east-1/s3/aws4_request, ...`. */
export function accessKeyOf(authorization: string | undefined): string | undefined {
  return /^AWS4-HMAC-SHA256\s+Credential=([^/,\s]+)\//.exec(authorization ?? '')?.[1];
}
