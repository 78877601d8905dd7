/** What agents can read by URI: the blueprint's JSON Schema, workflows, runs and their outputs. */
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { blueprintJsonSchema } from '../blueprint/json-schema.ts';
import type { EngineEnvironment } from '../engine/environment.ts';
import { requireScope, type Scope } from '../engine/principals.ts';
import { getRun, getRunOutput } from '../engine/runs.ts';
import { getWorkflow } from '../engine/workflows.ts';
import type { Principal } from '../store/records.ts';

const MIME = 'application/json';

interface ResourceKind {
  name: string;
  template: string;
  description: string;
  scope: Scope;
  read(env: EngineEnvironment, principal: Principal, id: string): Promise<unknown>;
}

const TEMPLATES: readonly ResourceKind[] = [
  {
    name: 'workflow',
    template: 'workflow://{id}',
    description: 'A workflow with its blueprint',
    scope: 'workflows:read',
    read: (env, principal, id) => getWorkflow(env, principal, { id }),
  },
  {
    name: 'run',
    template: 'run://{id}',
    description: "A run's status and steps",
    scope: 'runs:read',
    read: (env, principal, id) => getRun(env, principal, { runId: id }),
  },
  {
    name: 'run-output',
    template: 'run://{id}/output',
    description: "A run's whole output",
    scope: 'runs:read',
    read: (env, principal, id) => getRunOutput(env, principal, id),
  },
];

export function registerResources(server: McpServer, env: EngineEnvironment, principal: Principal): void {
  server.registerResource(
    'blueprint-schema',
    'schema://blueprint',
    { description: 'JSON Schema of a blueprint', mimeType: MIME },
    (uri) => {
      requireScope(principal, 'workflows:read');
      return contents(uri, blueprintJsonSchema());
    },
  );
  for (const kind of TEMPLATES) {
    server.registerResource(
      kind.name,
      new ResourceTemplate(kind.template, { list: undefined }),
      { description: kind.description, mimeType: MIME },
      async (uri, variables) => {
        requireScope(principal, kind.scope);
        return contents(uri, await kind.read(env, principal, String(variables['id'])));
      },
    );
  }
}

function contents(uri: URL, value: unknown): { contents: { uri: string; mimeType: string; text: string }[] } {
  return { contents: [{ uri: uri.href, mimeType: MIME, text: JSON.stringify(value) }] };
}
