/**
 * `mwe token`, as a person uses it: a process of its own, aimed at the stand-in by the SDK's variables. The endpoint reads the secret
 * with its first request and an unknown token makes it read again after ten seconds, so tokens are made before agents come.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../lib/cli/project.ts';
import type { Scope } from '../lib/engine/principals.ts';
import { LOCAL_REGION } from '../lib/store/aws-config.ts';
import type { Deployment } from './deploy.ts';
import { DEPLOYER } from './world.ts';

/** Runs `mwe token ARGS`; answers what it prints. */
export async function mweToken(deployment: Deployment, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(projectRoot(), 'bin', 'mwe.js'), 'token', ...args, '--secret', tokenSecret(deployment)],
    {
      env: {
        ...(process.env.PATH === undefined ? {} : { PATH: process.env.PATH }),
        AWS_REGION: LOCAL_REGION,
        AWS_ACCESS_KEY_ID: DEPLOYER,
        AWS_SECRET_ACCESS_KEY: 'rehearsal',
        AWS_ENDPOINT_URL_SECRETS_MANAGER: deployment.standIns.endpoints.SECRETS_MANAGER,
      },
    },
  );
  return stdout.trim();
}

/** Makes a token; answers the header that an agent sends. */
export async function mint(
  deployment: Deployment,
  principal: string,
  scopes: readonly Scope[],
  ...more: string[]
): Promise<Record<string, string>> {
  const token = await mweToken(
    deployment,
    'create',
    '--principal',
    principal,
    '--scopes',
    scopes.join(','),
    ...more,
  );
  return { authorization: `Bearer ${token}` };
}

/** The secret that the endpoint's configuration names. */
function tokenSecret({ world }: Deployment): string {
  for (const { logicalId, type } of world.template.order) {
    if (type !== 'AWS::Lambda::Function') continue;
    const variables = world.template.resourceOf(logicalId).properties.Environment as {
      Variables?: Record<string, string>;
    };
    const auth: unknown = JSON.parse(variables.Variables?.MWE_AUTH ?? '{}');
    if (typeof auth === 'object' && auth !== null && 'secretArn' in auth) return String(auth.secretArn);
  }
  throw new Error('no function of the template names a secret of tokens');
}
