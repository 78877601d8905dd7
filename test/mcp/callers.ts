/**
 * Callers for tests of who may do what: a principal is read from a header, so that one engine serves as many as a test names.
 * What a real deployment makes of credentials is tested in test/mcp/auth.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Agent, connectAgent } from '../../lib/cli/agent.ts';
import { SCOPES } from '../../lib/engine/principals.ts';
import type { Principal } from '../../lib/store/records.ts';

/** Every scope but `admin`. */
export const ALL = SCOPES.filter((scope) => scope !== 'admin').join(',');

/**
 * `authorization: alice workflows:read,runs:read k8s/*,graph/x`: name, scopes, allow-list (`-`: an empty one). No such
 * header: nobody.
 */
export function principalOf(request: Request): Principal | undefined {
  const [name = '', scopes = '', tools] = (request.headers.get('authorization') ?? '').split(' ');
  if (name === '') return undefined;
  const list = tools === undefined ? {} : { tools: tools.split(',').filter((tool) => tool !== '-') };
  return { kind: 'token', id: `token:${name}`, scopes: scopes.split(','), ...list };
}

export const credentials = (name: string, scopes: string = ALL, tools?: readonly string[]): string =>
  tools === undefined ? `${name} ${scopes}` : `${name} ${scopes} ${tools.join(',') || '-'}`;

export interface Callers {
  as(name: string, scopes?: string, tools?: readonly string[]): Promise<Agent>;
  /** The bare client, for prompts, resources and lists. */
  clientAs(name: string, scopes?: string): Promise<Client>;
  close(): Promise<void>;
}

/** Connects callers to an endpoint; each is connected once. */
export function callersOf(url: () => string): Callers {
  const agents = new Map<string, Promise<Agent>>();
  const clients = new Map<string, Promise<Client>>();
  const connect = async (authorization: string): Promise<Client> => {
    const client = new Client({ name: 'caller', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { authorization } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url()), { requestInit }));
    return client;
  };
  return {
    as(name, scopes, tools) {
      const authorization = credentials(name, scopes, tools);
      const agent = agents.get(authorization) ?? connectAgent(url(), { authorization });
      agents.set(authorization, agent);
      return agent;
    },
    clientAs(name, scopes) {
      const authorization = credentials(name, scopes);
      const client = clients.get(authorization) ?? connect(authorization);
      clients.set(authorization, client);
      return client;
    },
    async close() {
      for (const each of [...agents.values(), ...clients.values()]) await (await each).close();
    },
  };
}
