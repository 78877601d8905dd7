/**
 * Secrets Manager, as far as downstream servers need it: the string of a secret by its name, read once a process. What could
 * not be read is asked for again, after a moment: a loop of calls that all fail asks once a second.
 */
import type { SecretsManagerClient, SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager';
import type { ReadSecret } from './secret-values.ts';

const FAILURE_MS = 1000;

export interface SecretsManagerOptions {
  /** Makes the client at the first secret: a configuration without secrets pays nothing for it. */
  client(): SecretsManagerClient | Promise<SecretsManagerClient>;
  /** How a secret that is missing is made, appended to the message; default: nothing. */
  hint?: (name: string) => string;
  /** Epoch milliseconds; default Date.now. */
  now?: () => number;
}

/** The client, its code loaded when it is needed. */
export async function secretsManagerClient(
  config: SecretsManagerClientConfig,
): Promise<SecretsManagerClient> {
  const { SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  return new SecretsManagerClient(config);
}

/**
 * The current text of a secret; undefined: it holds bytes. Rejects as the client does.
 * Source: Secrets Manager API reference, GetSecretValue.
 */
export async function secretText(client: SecretsManagerClient, id: string): Promise<string | undefined> {
  const { GetSecretValueCommand } = await import('@aws-sdk/client-secrets-manager');
  return (await client.send(new GetSecretValueCommand({ SecretId: id }))).SecretString;
}

export function readFromSecretsManager(options: SecretsManagerOptions): ReadSecret {
  const { hint = () => '', now = Date.now } = options;
  const known = new Map<string, { value: Promise<string>; failedAt?: number }>();
  let client: Promise<SecretsManagerClient> | undefined;

  const read = async (name: string): Promise<string> => {
    client ??= Promise.resolve(options.client());
    const text = await secretText(await client, name).catch((cause: unknown) => {
      throw new Error(reasonOf(cause, hint(name)), { cause });
    });
    if (text === undefined) throw new Error('holds bytes; only a text can be used');
    return text;
  };

  return (name) => {
    const entry = known.get(name);
    if (entry !== undefined && (entry.failedAt === undefined || now() - entry.failedAt < FAILURE_MS)) {
      return entry.value;
    }
    const made: { value: Promise<string>; failedAt?: number } = { value: read(name) };
    known.set(name, made);
    made.value.catch(() => {
      made.failedAt = now();
    });
    return made.value;
  };
}

/** AWS's messages name accounts and roles: which error it is says enough. */
function reasonOf(error: unknown, hint: string): string {
  const name = error instanceof Error ? error.name : 'unknown error';
  if (name === 'ResourceNotFoundException') return `does not exist in Secrets Manager${hint}`;
  if (name === 'AccessDeniedException') return 'may not be read by this function (AccessDeniedException)';
  return `cannot be read (${name})`;
}
