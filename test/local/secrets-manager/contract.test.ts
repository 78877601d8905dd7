/** What Secrets Manager promises, with AWS's own client: versions and their labels, repeats, errors, and a restart. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../../lib/local/http-server.ts';
import { startSecretsManager } from '../../../lib/local/secrets-manager/service.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../../lib/store/aws-config.ts';

let folder: string;
let server: RunningServer;
let client: SecretsManagerClient;
const faults: unknown[] = [];

async function start(): Promise<void> {
  server = await startSecretsManager({ folder, onError: (error) => faults.push(error) });
  client = new SecretsManagerClient(
    clientConfig({ region: LOCAL_REGION, endpoint: server.url, credentials: LOCAL_CREDENTIALS }),
  );
}
async function stop(): Promise<void> {
  client.destroy();
  await server.close();
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-secrets-'));
  await start();
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
  expect(faults).toEqual([]);
});

const create = (Name: string, SecretString?: string, ClientRequestToken?: string) =>
  client.send(new CreateSecretCommand({ Name, SecretString, ClientRequestToken }));
const get = (SecretId: string, more: { VersionId?: string; VersionStage?: string } = {}) =>
  client.send(new GetSecretValueCommand({ SecretId, ...more }));
const put = (SecretId: string, SecretString: string, ClientRequestToken?: string, VersionStages?: string[]) =>
  client.send(new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken, VersionStages }));
const move = (VersionStage: string, RemoveFromVersionId?: string, MoveToVersionId?: string) =>
  client.send(
    new UpdateSecretVersionStageCommand({
      SecretId: 's',
      VersionStage,
      RemoveFromVersionId,
      MoveToVersionId,
    }),
  );

describe('a secret', () => {
  it('is found by its name, its ARN and its ARN without the suffix', async () => {
    const { ARN = '' } = await create('mwe/tokens', 'one');
    expect(ARN).toMatch(/^arn:aws:secretsmanager:us-east-1:000000000000:secret:mwe\/tokens-[A-Za-z0-9]{6}$/);
    for (const id of ['mwe/tokens', ARN, ARN.slice(0, -7)]) {
      expect(await get(id)).toMatchObject({ ARN, Name: 'mwe/tokens', SecretString: 'one' });
    }
    await expect(get('mwe/token')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret.",
    });
  });

  it('may be without a value', async () => {
    const { VersionId } = await create('empty');
    expect(VersionId).toBeUndefined();
    await expect(get('empty')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
    });
    await put('empty', 'first');
    expect((await get('empty')).VersionStages).toEqual(['AWSCURRENT']);
  });

  it('keeps bytes as they are', async () => {
    const SecretBinary = Uint8Array.from([0, 255, 10, 13]);
    await client.send(new CreateSecretCommand({ Name: 'bytes', SecretBinary }));
    expect((await get('bytes')).SecretBinary).toEqual(SecretBinary);
  });

  it('is there after a restart, in files that only their user reads', async () => {
    const { ARN = '' } = await create('kept', 'one');
    await put('kept', 'two');
    await stop();
    await start();
    expect((await get(ARN)).SecretString).toBe('two');
    expect((await get(ARN, { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('one');
    const files = await readdir(folder);
    expect(files).toHaveLength(1);
    for (const file of files) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
  });
});

describe('versions', () => {
  it('move AWSCURRENT and AWSPREVIOUS as they are put', async () => {
    const { VersionId: first = '' } = await create('s', 'one');
    const { VersionId: second = '' } = await put('s', 'two');
    const { VersionId: third = '' } = await put('s', 'three');
    expect((await get('s')).SecretString).toBe('three');
    expect((await get('s', { VersionId: first })).SecretString).toBe('one');
    expect((await client.send(new DescribeSecretCommand({ SecretId: 's' }))).VersionIdsToStages).toEqual({
      [third]: ['AWSCURRENT'],
      [second]: ['AWSPREVIOUS'],
    });
    await expect(get('s', { VersionId: first, VersionStage: 'AWSCURRENT' })).rejects.toMatchObject({
      name: 'InvalidRequestException',
    });
  });

  it('have the request token as their id; a repeat is ignored, another value under it refused', async () => {
    const token = randomUUID();
    const { VersionId } = await create('s', 'one', token);
    expect(VersionId).toBe(token);
    expect((await create('s', 'one', token)).VersionId).toBe(token);
    await expect(create('s', 'other', token)).rejects.toMatchObject({ name: 'ResourceExistsException' });
    await expect(create('s', 'one')).rejects.toMatchObject({ name: 'ResourceExistsException' });

    const next = randomUUID();
    expect((await put('s', 'two', next)).VersionId).toBe(next);
    await put('s', 'three');
    // Ignored: it does not become the current one again.
    expect((await put('s', 'two', next)).VersionId).toBe(next);
    expect((await get('s')).SecretString).toBe('three');
    await expect(put('s', 'else', next)).rejects.toMatchObject({ name: 'ResourceExistsException' });
  });

  it('can be put under a label of their own and become current by a compare-and-set', async () => {
    const { VersionId: first } = await create('s', 'one');
    const { VersionId: a } = await put('s', 'a', undefined, ['DRAFT']);
    const { VersionId: b } = await put('s', 'b', undefined, ['DRAFT']);
    expect((await get('s')).SecretString).toBe('one');
    expect((await get('s', { VersionStage: 'DRAFT' })).SecretString).toBe('b');

    await expect(move('AWSCURRENT', undefined, a)).rejects.toMatchObject({
      name: 'InvalidParameterException',
    });
    await move('AWSCURRENT', first, a);
    await expect(move('AWSCURRENT', first, b)).rejects.toMatchObject({ name: 'InvalidParameterException' });
    expect((await get('s')).SecretString).toBe('a');
    expect((await get('s', { VersionStage: 'AWSPREVIOUS' })).VersionId).toBe(first);
    // Of many at once one wins.
    const contenders = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => (await put('s', `c${n}`, undefined, [`D${n}`])).VersionId),
    );
    const moved = await Promise.allSettled(contenders.map((id) => move('AWSCURRENT', a, id)));
    expect(moved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('without a label are kept, up to a hundred', async () => {
    const { VersionId: first = '' } = await create('s', '0');
    for (let n = 1; n <= 104; n++) await put('s', String(n));
    expect((await get('s')).SecretString).toBe('104');
    await expect(get('s', { VersionId: first })).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  }, 60_000);
});

describe('what is refused', () => {
  it.each([
    ['a name with other characters', () => create('a b', 'x'), 'ValidationException'],
    ['a value over 64 KiB', () => create('big', 'x'.repeat(65_537)), 'ValidationException'],
    ['a short request token', () => create('s', 'x', 'short'), 'ValidationException'],
    ['no value', () => client.send(new PutSecretValueCommand({ SecretId: 's' })), 'InvalidRequestException'],
    ['a secret that is not there', () => put('none', 'x'), 'ResourceNotFoundException'],
    [
      'text and bytes at once',
      () =>
        client.send(
          new CreateSecretCommand({ Name: 's', SecretString: 'x', SecretBinary: new Uint8Array(1) }),
        ),
      'InvalidParameterException',
    ],
  ])('%s', async (_, call, name) => {
    const error = await call().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name });
  });

  it('requests without a signature, of another host or of no known operation', async () => {
    const send = (headers: Record<string, string>) =>
      fetch(server.url, { method: 'POST', headers, body: '{}' });
    expect((await send({})).status).toBe(403);
    const signed = { authorization: 'AWS4-HMAC-SHA256 Credential=local' };
    expect((await send({ ...signed, origin: 'https://evil.example' })).status).toBe(403);
    const unknown = await send({ ...signed, 'x-amz-target': 'secretsmanager.DeleteSecret' });
    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toMatchObject({ __type: 'UnknownOperationException' });
    const inherited = await send({ ...signed, 'x-amz-target': 'secretsmanager.constructor' });
    expect(await inherited.json()).toMatchObject({ __type: 'UnknownOperationException' });
  });

  it('says nothing of a value', async () => {
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: { authorization: 'AWS4-HMAC-SHA256 x', 'x-amz-target': 'secretsmanager.CreateSecret' },
      body: JSON.stringify({ Name: 'hush hush', SecretString: ['hunter2'] }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toContain('hunter2');
  });
});
