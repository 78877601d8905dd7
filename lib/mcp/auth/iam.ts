/**
 * IAM principals. Lambda has verified the request's signature and its right to invoke the URL before we see it; what is left
 * is which scopes the principal has. A session of an assumed role is its role: the session's ARN has the role's name without
 * its path, and names are unique in an account, so role and session are matched by partition, account and name.
 *
 * Source: IAM user guide, "IAM identifiers"; Lambda developer guide, "Control access to Lambda function URLs".
 */
import type { Authenticator } from './authenticator.ts';
import { AuthConfigError, IAM_PRINCIPAL, type IamConfig } from './config.ts';
import { forbidden } from './refusals.ts';

type Grant = IamConfig['principals'][string];

const SESSION = /^arn:(aws[a-z-]*):sts::(\d{12}):assumed-role\/([\w+=,.@-]+)\/[\w+=,.@-]+$/;

/** @throws AuthConfigError where two entries are one role. */
export function iamAuthenticator(config: Pick<IamConfig, 'principals'>): Authenticator {
  const granted = new Map<string, { arn: string; grant: Grant }>();
  for (const [arn, grant] of Object.entries(config.principals)) {
    const key = keyOfEntry(arn);
    const twin = granted.get(key);
    if (twin !== undefined) {
      throw new AuthConfigError(`auth/principals/${arn}: this is the role of ${twin.arn}; name it once`);
    }
    granted.set(key, { arn, grant });
  }
  return {
    async authenticate(_request, { iamArn }) {
      // Nobody comes here unsigned unless the URL is open, and then nobody is let in.
      if (iamArn === undefined) return forbidden('no-credentials');
      const found = granted.get(keyOfCaller(iamArn));
      if (found === undefined) return forbidden('unknown-principal');
      const { scopes, tools } = found.grant;
      return {
        principal: {
          kind: 'iam',
          id: `iam:${found.arn}`,
          scopes: [...scopes],
          ...(tools === undefined ? {} : { tools: [...tools] }),
        },
      };
    },
    metadata: () => undefined,
  };
}

function keyOfEntry(arn: string): string {
  const [, partition, account, kind, , name] = IAM_PRINCIPAL.exec(arn) ?? [];
  if (kind === undefined) {
    throw new AuthConfigError(`auth/principals/${arn}: the ARN of a role or a user is needed`);
  }
  return kind === 'role' ? `${partition}:${account}:role/${name}` : arn;
}

/** A user's ARN is the entry's; whatever is neither user nor session (the root user, a federated one) has no entry. */
function keyOfCaller(arn: string): string {
  const [, partition, account, role] = SESSION.exec(arn) ?? [];
  return role === undefined ? arn : `${partition}:${account}:role/${role}`;
}
