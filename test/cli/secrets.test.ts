// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of mcp.json are what is tested
/** Secrets of downstream servers on one machine: from the stand-in of Secrets Manager, or a sentence that says how to make them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectAgent } from '../../lib/cli/agent.ts';
import { type Engine, startEngine } from '../../lib/cli/engine.ts';
import { clientConfig, LOCAL_CREDENTIALS, LOCAL_REGION } from '../../lib/store/aws-config.ts';

const VALUE = 'sk-local-5f1c';
const log: string[] = [];
let folder: string;
let engine: Engine;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mwe-local-secrets-'));
  const config = join(folder, 'mcp.json');
  const command = 'node';
  const args = [join(import.meta.dirname, '../downstream/fixtures/telling-server.mjs')];
  const mcpServers = {
    known: { command, args, env: { KEY: '${secret:team/key}' } },
    unknown: { command, args, env: { KEY: '${secret:gone}' } },
  };
  writeFileSync(config, JSON.stringify({ mcpServers }));
  engine = await startEngine({
    port: 0,
    config,
    dataDir: join(folder, 'data'),
    log: (entry) => log.push(JSON.stringify(entry)),
  });
  const { secretsmanager: endpoint } = engine.endpoints;
  const client = new SecretsManagerClient(
    clientConfig({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint }),
  );
  await client.send(new CreateSecretCommand({ Name: 'team/key', SecretString: VALUE }));
  client.destroy();
});
afterAll(async () => {
  await engine.stop();
  rmSync(folder, { recursive: true });
});

it('a secret of the stand-in reaches its server and nobody else', async () => {
  const agent = await connectAgent(engine.mcp);
  try {
    const answer = JSON.stringify(await agent.call('call_tool', { tool: 'known/fail' }));
    expect(answer).toContain('the key *** is refused');
    const missing = JSON.stringify(await agent.call('call_tool', { tool: 'unknown/tell' }));
    expect(missing).toContain(
      'the secret \\"gone\\" does not exist in Secrets Manager; make \\"gone\\" with the AWS CLI (secretsmanager create-secret) at the endpoint \\"secretsmanager\\" of endpoints.json',
    );
    expect(answer + missing + log.join('')).not.toContain(VALUE);
  } finally {
    await agent.close();
  }
});
