/** Looking at the downstream tools: what an agent does before it writes a blueprint. */
import { isJsonObject, type Json, type JsonObject } from '../blueprint/json.ts';
import { allowsServer, allowsTool } from '../blueprint/tool-allow-list.ts';
import { visibleText } from '../downstream/clean-text.ts';
import type { ToolInfo } from '../downstream/tool-info.ts';
import { setField } from '../expression/values.ts';
import { bytesOf } from '../steps/sample.ts';
import type { Principal } from '../store/records.ts';
import { getCatalog } from './catalog.ts';
import { openCursor, sealCursor } from './cursors.ts';
import type { EngineEnvironment } from './environment.ts';

/** With this many matches or fewer each tool comes with its schemas. */
const MATCHES_WITH_SCHEMA = 5;
const PAGE = 50;
const MAX_DESCRIPTION = 200;
const MAX_LONG_DESCRIPTION = 2000;
/** All schemas of an answer together. A tool whose schemas do not fit comes with their size. */
const SCHEMA_BYTES = 32 * 1024;

/**
 * The tool `list_tools`: those that the caller may use. Servers that cannot be reached are named beside the tools of the others.
 */
export async function listTools(
  env: EngineEnvironment,
  principal: Principal,
  args: { server?: string | undefined; query?: string | undefined; cursor?: string | undefined },
) {
  const query = {
    operation: 'list_tools',
    principal: principal.id,
    server: args.server ?? null,
    query: args.query ?? null,
  };
  const { cursorSecret } = env.config;
  const from = args.cursor === undefined ? 0 : Number(await openCursor(cursorSecret, query, args.cursor));
  const catalog = await getCatalog(env, args.cursor === undefined && args.query === undefined);
  const { tools: list } = principal;
  const matches = catalog.tools.filter(
    (tool) =>
      allowsTool(list, { server: tool.server, tool: tool.name }) &&
      matchesQuery(tool, args.server, args.query),
  );
  const unavailable = catalog.unavailable.filter(({ server }) => allowsServer(list, server));
  const withSchema = matches.length <= MATCHES_WITH_SCHEMA;
  let left = SCHEMA_BYTES;
  const tools = matches.slice(from, from + PAGE).map((tool) => {
    const listed = describe(tool, withSchema ? MAX_LONG_DESCRIPTION : MAX_DESCRIPTION);
    if (!withSchema) return listed;
    const schemas = schemasOf(tool);
    const bytes = bytesOf(schemas);
    left -= bytes;
    return left >= 0 ? { ...listed, ...schemas } : { ...listed, schemaBytes: bytes };
  });
  return {
    tools,
    ...(from === 0 && unavailable.length > 0 ? { unavailable } : {}),
    ...(matches.length === 0
      ? { servers: catalog.servers.filter((server) => allowsServer(list, server)) }
      : {}),
    ...(from + PAGE < matches.length
      ? { total: matches.length, nextCursor: await sealCursor(cursorSecret, query, String(from + PAGE)) }
      : {}),
  };
}

function matchesQuery(tool: ToolInfo, server: string | undefined, query: string | undefined): boolean {
  if (server !== undefined && tool.server !== server) return false;
  if (query === undefined) return true;
  const text = `${tool.server}/${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function describe(tool: ToolInfo, maxDescription: number) {
  const { server, name, annotations } = tool;
  const description = visibleText(tool.description ?? '');
  return {
    server,
    name,
    description:
      description.length <= maxDescription ? description : `${description.slice(0, maxDescription)}…`,
    ...(annotations.readOnlyHint === true ? { readOnly: true } : {}),
    ...(annotations.idempotentHint === true ? { idempotent: true } : {}),
  };
}

function schemasOf({ inputSchema, outputSchema }: ToolInfo): JsonObject {
  const schemas: JsonObject = outputSchema === undefined ? { inputSchema } : { inputSchema, outputSchema };
  return withVisibleTexts(schemas) as JsonObject;
}

const TEXTS: readonly string[] = ['description', 'title', '$comment'];

/** A schema whose texts hold nothing that cannot be seen; what it allows is untouched. */
function withVisibleTexts(value: Json): Json {
  if (Array.isArray(value)) return value.map(withVisibleTexts);
  if (!isJsonObject(value)) return value;
  const object: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    const isText = typeof inner === 'string' && TEXTS.includes(key);
    setField(object, key, isText ? visibleText(inner) : withVisibleTexts(inner));
  }
  return object;
}
