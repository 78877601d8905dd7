/** What tells one configuration of downstream servers from another, for caches of what they offer. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../blueprint/canonical.ts';
import type { Json } from '../blueprint/json.ts';
import type { ServerConfig } from './config.ts';

/** SHA-256, hexadecimal. Values of `env` and `headers` may be secrets and only their names count. */
export function serversHash(servers: readonly ServerConfig[]): string {
  const counted = servers.map((server) =>
    server.transport === 'stdio'
      ? { ...server, env: Object.keys(server.env) }
      : { ...server, headers: Object.keys(server.headers) },
  );
  return createHash('sha256')
    .update(canonicalJson(counted as unknown as Json))
    .digest('hex');
}
