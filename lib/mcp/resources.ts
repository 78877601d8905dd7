/** What agents can read by URI: the blueprint's JSON Schema, workflows, runs and their outputs. */
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { blueprintJsonSchema } from '../blueprint/json-schema.ts';
import type { EngineEnvironment } from '../engine/environment.ts';
import { getRun, getRunOutput } from '../engine/runs.ts';
import { getWorkflow } from '../engine/workflows.ts';
import type { Principal } from '../store/records.ts';
import { protocolError } from './faults.ts';
import { authorize } from './scopes.ts';

const MIME = 'application/json';

interface ResourceKind {
  name: string;
  template: string;
  description: string;
  read(env: EngineEnvironment, principal: Principal, id: string): Promise<unknown>;
}

const TEMPLATES: readonly ResourceKind[] = [
  {
    name: 'workflow',
    template: 'workflow://{id}',
    description: 'A workflow with its blueprint',
    read: (env, principal, id) => getWorkflow(env, principal, { id }),
  },
  {
    name: 'run',
    template: 'run://{id}',
    description: "A run's status and steps",
    read: (env, principal, id) => getRun(env, principal, { runId: id }),
  },
  {
    name: 'run-output',
    template: 'run://{id}/output',
    description: "A run's whole output",
    read: (env, principal, id) => getRunOutput(env, principal, id),
  },
];

const SCHEMA_URI = 'schema://blueprint';

export function registerResources(server: McpServer, env: EngineEnvironment, principal: Principal): void {
  /** What `read` answers, if the caller may have it. */
  async function answer(uri: URL, template: string, read: () => unknown) {
    try {
      authorize(principal, 'resource', template);
      return contents(uri, await read());
    } catch (error) {
      throw protocolError(env, template, error, uri.href);
    }
  }
  server.registerResource(
    'blueprint-schema',
    SCHEMA_URI,
    { description: 'JSON Schema of a blueprint', mimeType: MIME },
    (uri) => answer(uri, SCHEMA_URI, blueprintJsonSchema),
  );
  for (const kind of TEMPLATES) {
    server.registerResource(
      kind.name,
      new ResourceTemplate(kind.template, { list: undefined }),
      { description: kind.description, mimeType: MIME },
      (uri, variables) => answer(uri, kind.template, () => kind.read(env, principal, String(variables.id))),
    );
  }
}

function contents(uri: URL, value: unknown): { contents: { uri: string; mimeType: string; text: string }[] } {
  return { contents: [{ uri: uri.href, mimeType: MIME, text: JSON.stringify(value) }] };
}
