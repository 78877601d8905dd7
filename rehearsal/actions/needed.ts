/**
 * What an HTTP request to an AWS service needs allowed: actions, resources and context keys, as the service authorization
 * reference of each service has them. A request that is not known here is refused, and with it the rehearsal.
 */
import type { JsonObject } from '../../lib/blueprint/json.ts';
import type { RequestContext } from '../iam/conditions.ts';

/** One question to IAM. The caller is known from elsewhere. */
export interface Needed {
  /** `service:Operation`. */
  action: string;
  resource: string;
  context: RequestContext;
}

/** A request as it came in. */
export interface ServiceRequest {
  method: string;
  /** With its query. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Empty where the service's actions do not follow from bodies (S3, Lambda). */
  body: JsonObject;
}

/**
 * The context keys that are filled in here and by those who ask; a policy that names another one is not judged. Lower case.
 */
export const CONTEXT_KEYS: ReadonlySet<string> = new Set([
  'aws:securetransport',
  's3:tlsversion',
  'aws:principalarn',
  'aws:sourcearn',
  'aws:sourceaccount',
  'iam:passedtoservice',
  'lambda:functionurlauthtype',
  'lambda:invokedviafunctionurl',
  'states:statemachinequalifier',
  's3:prefix',
]);

/** What every request of an SDK says of itself: on AWS it speaks TLS 1.2 or later, which a stand-in does not. */
export const TRANSPORT: RequestContext = { 'aws:SecureTransport': 'true', 's3:TlsVersion': '1.3' };

/** `iam:PassRole`, which a service asks about on behalf of who hands it a role. */
export function passRole(roleArn: string, service: string): Needed {
  return { action: 'iam:PassRole', resource: roleArn, context: { 'iam:PassedToService': service } };
}
