/**
 * The secret with the deployment's tokens, as `mwe token` reads and changes it.
 *
 * Two people may change it at once. PutSecretValue has no condition, but moving a label has one: a new value is put under a
 * label of its own, where nobody reads it, and then AWSCURRENT is moved to it from the version that was read. Where another
 * change came between, the move fails and the change is made anew on what is there now. So no change is lost and none is
 * half made; an interrupted one leaves a version that nobody reads.
 *
 * Source: Secrets Manager API reference, "PutSecretValue" and "UpdateSecretVersionStage" (RemoveFromVersionId).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  GetSecretValueCommand,
  InvalidParameterException,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import {
  formatTokenSecret,
  parseTokenSecret,
  type StoredToken,
  TokenSecretError,
} from '../mcp/auth/tokens.ts';
// Importing it silences the SDK's notice about Node 20.
import '../store/aws-config.ts';
import { CliError } from './exit-codes.ts';

const DRAFT = 'mwe-draft';
const CURRENT = 'AWSCURRENT';
const MAX_BYTES = 65_536;
const MAX_TRIES = 10;
/** Between tries, times their number, give or take a half. */
const PAUSE_MS = 100;

/** What becomes of the tokens. Called again where another change came between; then `again` is true. */
export type TokenChange = (tokens: readonly StoredToken[], again: boolean) => readonly StoredToken[];

export interface TokenSecret {
  /** @throws CliError */
  read(): Promise<readonly StoredToken[]>;
  /** Changes the tokens on what is there at that moment. @throws CliError, and what `change` throws */
  change(change: TokenChange): Promise<void>;
  close(): void;
}

/** `id`: name or ARN of the secret. Region, credentials and endpoint are the SDK's own; an ARN says its region. */
export function openTokenSecret(id: string): TokenSecret {
  const region = /^arn:[a-z-]+:secretsmanager:([a-z0-9-]+):/.exec(id)?.[1];
  const client = new SecretsManagerClient(region === undefined ? {} : { region });

  /** `version` undefined: the secret has no value yet. */
  const readCurrent = async (): Promise<{ version: string | undefined; text: string | undefined }> => {
    try {
      const answer = await client.send(new GetSecretValueCommand({ SecretId: id }));
      return { version: answer.VersionId, text: answer.SecretString };
    } catch (error) {
      // AWS has one error for a secret that is not there and for one that holds nothing.
      if (error instanceof ResourceNotFoundException && error.message.includes(CURRENT)) {
        return { version: undefined, text: undefined };
      }
      throw error;
    }
  };

  const put = async (text: string): Promise<string> => {
    const version = randomUUID();
    await client.send(
      new PutSecretValueCommand({
        SecretId: id,
        SecretString: text,
        ClientRequestToken: version,
        VersionStages: [DRAFT],
      }),
    );
    return version;
  };

  /** Whether `to` is the current version now. False: another one was made current since `from` was read. */
  const makeCurrent = async (from: string | undefined, to: string): Promise<boolean> => {
    // The first value of a secret becomes the current one by itself.
    if (from === undefined) return (await readCurrent()).version === to;
    try {
      await client.send(
        new UpdateSecretVersionStageCommand({
          SecretId: id,
          VersionStage: CURRENT,
          RemoveFromVersionId: from,
          MoveToVersionId: to,
        }),
      );
      return true;
    } catch (error) {
      if (!(error instanceof InvalidParameterException)) throw error;
      const { version } = await readCurrent();
      // Moved by an attempt whose answer was lost.
      if (version === to) return true;
      if (version === from) throw error;
      return false;
    }
  };

  const told = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw faultOf(error, id, region);
    });

  return {
    read: () => told(readCurrent().then(({ text }) => tokensIn(text, id))),
    change: (change) =>
      told(
        (async () => {
          for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
            if (attempt > 0) await wait(PAUSE_MS * attempt * (0.5 + Math.random()));
            const { version, text } = await readCurrent();
            const next = formatTokenSecret(change(tokensIn(text, id), attempt > 0));
            if (Buffer.byteLength(next) > MAX_BYTES) {
              throw new CliError(
                'the secret would be larger than 64 KiB; revoke tokens that are not used (mwe token list)',
              );
            }
            if (await makeCurrent(version, await put(next))) return;
          }
          throw new CliError(
            `the secret ${id} was changed by others ${MAX_TRIES} times in between; try again`,
          );
        })(),
      ),
    close: () => client.destroy(),
  };
}

/** Entries that are not understood would be lost by a change, so they stop it. */
function tokensIn(text: string | undefined, id: string): readonly StoredToken[] {
  if (text === undefined) return [];
  const { tokens, faults } = parseTokenSecret(text);
  if (faults.length === 0) return tokens;
  throw new CliError(
    `the secret ${id} holds entries that this version does not understand: ${faults.join(', ')}; use the version that made them, or correct them in the console`,
  );
}

/** What went wrong, with the way out; others' errors by their name alone. */
function faultOf(error: unknown, id: string, region: string | undefined): unknown {
  if (error instanceof CliError || !(error instanceof Error)) return error;
  const say = (message: string): CliError => new CliError(message, undefined, { cause: error });
  if (error instanceof TokenSecretError) {
    return say(`${id}: ${error.message}; give the one that the stack's output TokenSecret names`);
  }
  if (/^Region (is missing|not accepted)/.test(error.message)) {
    return say("no AWS region: set AWS_REGION, or give the secret's ARN");
  }
  switch (error.name) {
    case 'ResourceNotFoundException':
      return say(
        `there is no secret "${id}"${region === undefined ? ' in this region' : ` in ${region}`}; the stack's output TokenSecret names it (with another auth mode than bearer there is none)`,
      );
    case 'AccessDeniedException':
      return say(
        `these credentials may not use the secret "${id}": secretsmanager:GetSecretValue is needed, and to change it PutSecretValue and UpdateSecretVersionStage`,
      );
    case 'CredentialsProviderError':
      return say('no AWS credentials: set AWS_PROFILE, or the AWS_ACCESS_KEY_ID of a role, or sign in');
    case 'ExpiredTokenException':
    case 'UnrecognizedClientException':
    case 'InvalidSignatureException':
      return say(`AWS does not accept these credentials (${error.name}); sign in again`);
    default:
      return say(
        `Secrets Manager: ${error.name === 'Error' && 'code' in error ? String(error.code) : error.name}`,
      );
  }
}
