/** What agents can read by URI: the blueprint's JSON Schema, workflows, runs and their outputs. */
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import type { EngineEnvironment } from '../engine/environment.ts';
import type { Principal } from '../store/records.ts';
import { protocolError } from './faults.ts';
import { authorize, scopeChallenge } from './scopes.ts';

/** Of a template's URI, by name. A name that the template does not have reads as empty. */
type Variables = Record<'id' | 'revision' | 'at', string>;

const MIME = 'application/json';

/** Loaded by the first resource that is read. */
const runs = () => import('../engine/runs.ts');
const workflows = () => import('../engine/workflows.ts');

interface ResourceKind {
  name: string;
  template: string;
  description: string;
  read(env: EngineEnvironment, principal: Principal, variables: Variables): Promise<unknown>;
}

const TEMPLATES: readonly ResourceKind[] = [
  {
    name: 'workflow',
    template: 'workflow://{id}',
    description: 'A workflow with its blueprint',
    read: async (env, principal, { id }) => (await workflows()).getWorkflow(env, principal, { id }),
  },
  {
    name: 'workflow-revision',
    template: 'workflow://{id}/revisions/{revision}',
    description: 'A revision of a workflow',
    read: async (env, principal, { id, revision }) =>
      (await workflows()).getWorkflow(env, principal, { id, revision: Number(revision) }),
  },
  {
    name: 'workflow-machine',
    template: 'workflow://{id}/revisions/{revision}/machine',
    description: 'The state machine of a revision',
    read: async (env, principal, { id, revision }) => {
      const asked = { id, revision: Number(revision), machine: true };
      const { getWorkflow } = await workflows();
      return (await getWorkflow(env, principal, asked)).machine;
    },
  },
  {
    name: 'run',
    template: 'run://{id}',
    description: "A run's status and steps",
    read: async (env, principal, { id }) => (await runs()).getRun(env, principal, { runId: id }),
  },
  {
    name: 'run-output',
    template: 'run://{id}/output',
    description: "A run's whole output",
    read: async (env, principal, { id }) => (await runs()).getRunValue(env, principal, id, '$output'),
  },
  {
    name: 'run-value',
    template: 'run://{id}/value/{+at}',
    description: "A step's whole value",
    read: async (env, principal, { id, at }) => (await runs()).getRunValue(env, principal, id, at),
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
    {
      description: 'JSON Schema of a blueprint',
      mimeType: MIME,
      scopeChallenge: scopeChallenge(principal, 'resource', SCHEMA_URI),
    },
    (uri) =>
      answer(uri, SCHEMA_URI, async () =>
        (await import('../blueprint/json-schema.ts')).blueprintJsonSchema(),
      ),
  );
  for (const kind of TEMPLATES) {
    server.registerResource(
      kind.name,
      new ResourceTemplate(kind.template, { list: undefined }),
      {
        description: kind.description,
        mimeType: MIME,
        scopeChallenge: scopeChallenge(principal, 'resource', kind.template),
      },
      (uri, variables) => answer(uri, kind.template, () => kind.read(env, principal, strings(variables))),
    );
  }
}

function strings(variables: Record<string, string | string[]>): Variables {
  const text = (name: keyof Variables): string => String(variables[name] ?? '');
  return { id: text('id'), revision: text('revision'), at: text('at') };
}

function contents(uri: URL, value: unknown): { contents: { uri: string; mimeType: string; text: string }[] } {
  return { contents: [{ uri: uri.href, mimeType: MIME, text: JSON.stringify(value) }] };
}
