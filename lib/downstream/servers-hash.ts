/** What tells one configuration of downstream servers from another, for caches of what they offer. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../blueprint/canonical.ts';
import type { Json } from '../blueprint/json.ts';
import type { ServerConfig } from './config.ts';
import { withoutSecrets } from './secrets.ts';

/** SHA-256, hexadecimal. Values of `env`, of `headers` and of the environment may be secrets and do not count. */
export function serversHash(servers: readonly ServerConfig[]): string {
  const counted = servers.map(({ secrets, ...server }) => {
    const hide = (text: string) => withoutSecrets(text, secrets);
    return server.transport === 'stdio'
      ? {
          ...server,
          command: hide(server.command),
          args: server.args.map(hide),
          cwd: hide(server.cwd),
          env: Object.keys(server.env),
        }
      : { ...server, url: hide(server.url), headers: Object.keys(server.headers) };
  });
  return createHash('sha256')
    .update(canonicalJson(counted as unknown as Json))
    .digest('hex');
}
