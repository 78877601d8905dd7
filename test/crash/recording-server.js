/**
 * A downstream server that proves what was called: `record` appends its argument to the file in RECORD_FILE, waits, and
 * answers. It is neither read-only nor idempotent, and says so. Plain JavaScript, so that `node` starts it.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const file = process.env.RECORD_FILE ?? '';

serveStdio(() => {
  const server = new McpServer({ name: 'recording', version: '1.0.0' });
  server.registerTool(
    'record',
    {
      inputSchema: z.object({ n: z.number(), ms: z.number().default(5) }),
      outputSchema: z.object({ n: z.number() }),
      annotations: { readOnlyHint: false, idempotentHint: false },
    },
    async ({ n, ms }) => {
      appendFileSync(file, `${n}\n`);
      await sleep(ms);
      return { content: [{ type: 'text', text: String(n) }], structuredContent: { n } };
    },
  );
  return server;
});
