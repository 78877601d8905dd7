/** What the clients' configuration promises: a service that does not answer is given up. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';

it('a request that is not answered in its time is rejected', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const config = clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint }, 50);
  const client = new DynamoDBClient({ ...config, maxAttempts: 1 });
  try {
    const get = new GetItemCommand({ TableName: 'none', Key: { pk: { S: 'x' } } });
    await expect(client.send(get)).rejects.toMatchObject({ name: 'TimeoutError' });
  } finally {
    client.destroy();
    silent.closeAllConnections();
    silent.close();
  }
});
