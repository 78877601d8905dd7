/** A tool call of a dry run: made where the tool is read-only by a server that is trusted and everything it takes is known. */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json, JsonObject } from '../../blueprint/json.ts';
import type { ToolCallNode } from '../../compile/program.ts';
import { storeBlobs } from '../../downstream/blobs.ts';
import { callTool, ToolFailure, type ToolResult } from '../../downstream/call.ts';
import { resolveTool } from '../../downstream/catalog.ts';
import type { ToolInfo } from '../../downstream/tool-info.ts';
import { resultValue } from '../../downstream/value.ts';
import { setField, truthy } from '../../expression/values.ts';
import { requireArguments } from '../call/arguments.ts';
import type { DryRunStep } from '../explore-protocol.ts';
import type { Frame, Outcome } from '../frame.ts';
import { requireTool } from '../work.ts';
import { hasUnknown, resolvePartly } from './partial.ts';
import { openOutcome, type Place, scopeAt } from './place.ts';

/** Calls of a dry run: enough to see what a blueprint does, and no load. */
const MAX_CALLS = 40;

/** What is known of a step while it is walked, for telling its failure. */
export interface CallTrace {
  entry: DryRunStep;
  /** As the list has it, once it has. */
  listed?: DryRunStep | undefined;
}

/** Walks the call; `condition` are the expressions that leave open whether it is made. Throws StepFailure. */
export async function dryCall(
  place: Place,
  node: ToolCallNode,
  frame: Frame,
  condition: readonly string[],
  trace: CallTrace,
): Promise<Outcome> {
  const { dry, loaded } = place;
  const args = resolveArguments(place, node, frame);
  trace.entry = { ...trace.entry, arguments: args.shown };
  const bound = Object.hasOwn(loaded.document.tools, node.id) ? loaded.document.tools[node.id] : undefined;
  const server = bound?.server ?? node.server;
  const tool = await resolveTool(dry.pool, server === undefined ? node.tool : `${server}/${node.tool}`);
  trace.entry.tool = `${tool.server}/${tool.name}`;
  requireTool(place.allowed, { server: tool.server, tool: tool.name });
  const { required } = tool.inputSchema;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  requireArguments(node, args.value, names);

  const unresolved = [...new Set([...condition, ...args.unresolved])];
  const limit = dry.calls >= MAX_CALLS || dry.now() >= dry.until;
  if (!isReadOnly(place, tool) || place.hypothetical || unresolved.length > 0 || limit) {
    trace.entry.status = 'not-called';
    if (unresolved.length > 0) trace.entry.unresolved = unresolved;
    else if (isReadOnly(place, tool) && limit) trace.entry.reason = 'the limit of a dry run is reached';
    trace.listed = dry.list.add(trace.entry);
    return openOutcome(dry);
  }
  const began = dry.now();
  dry.calls += 1;
  const result = await send(place, node, tool, args.value);
  trace.entry.status = 'called';
  return shaped(place, node, frame, tool, result, { trace, ms: dry.now() - began });
}

export interface ResolvedArguments {
  value: JsonObject;
  shown: JsonObject;
  unresolved: string[];
}

/** As in a run: an argument that comes out null is left out. */
export function resolveArguments(
  place: Place,
  node: { id: string; params: ToolCallNode['params']; uses: ToolCallNode['uses'] },
  frame: Frame,
): ResolvedArguments {
  const scope = scopeAt(place, frame, node.uses);
  const args: ResolvedArguments = { value: {}, shown: {}, unresolved: [] };
  for (const [name, template] of Object.entries(node.params)) {
    const argument = resolvePartly(template, scope, node.id, `params.${name}`);
    if (argument.value === null) continue;
    setField(args.value, name, argument.value);
    setField(args.shown, name, argument.shown);
    args.unresolved.push(...argument.unresolved);
  }
  return args;
}

function isReadOnly({ dry }: Place, tool: ToolInfo): boolean {
  const trusted = dry.pool.servers.get(tool.server)?.config.trustAnnotations === true;
  return trusted && tool.annotations.readOnlyHint === true;
}

async function send(
  { dry }: Place,
  node: ToolCallNode,
  tool: ToolInfo,
  args: JsonObject,
): Promise<ToolResult> {
  const left = Math.max(1, dry.until - dry.now());
  const limit = node.timeoutMs ?? dry.pool.servers.get(tool.server)?.config.timeoutMs ?? left;
  const result = await callTool(dry.pool, {
    server: tool.server,
    tool: tool.name,
    arguments: args,
    timeoutMs: Math.min(limit, left),
    hops: dry.hops,
    retryUnknown: true,
  });
  // Nothing is stored: binary content is told by its type and size alone.
  return storeBlobs(result, () => Promise.resolve(null));
}

function shaped(
  place: Place,
  node: ToolCallNode,
  frame: Frame,
  tool: ToolInfo,
  result: ToolResult,
  { trace, ms }: { trace: CallTrace; ms: number },
): Outcome {
  const mapped = resultValue(result, node.parse);
  const after = shapeValue(place, node, frame, mapped);
  if (after.unresolved.length > 0) trace.entry.unresolved = after.unresolved;
  trace.entry.value = after.value;
  trace.listed = place.dry.list.add(trace.entry);
  if (after.unresolved.length > 0) return openOutcome(place.dry, after.value);
  const detail = {
    content: result.content as Json,
    ...(result.structured === undefined ? {} : { structured: result.structured }),
    isError: false,
    server: tool.server,
    tool: tool.name,
  };
  return { status: 'succeeded', value: after.value, attempts: 1, ms, detail };
}

/** `select`, then `failWhen`, over a value. Throws FailedCondition. */
export function shapeValue(
  place: Place,
  node: Pick<ToolCallNode, 'id' | 'uses' | 'select' | 'failWhen'>,
  frame: Frame,
  output: Json,
): { value: Json; unresolved: string[] } {
  let value = output;
  const unresolved: string[] = [];
  if (node.select !== undefined) {
    const selected = resolvePartly(
      node.select,
      scopeAt(place, frame, node.uses, { output: value }),
      node.id,
      'select',
    );
    value = selected.value;
    unresolved.push(...selected.unresolved);
  }
  if (node.failWhen !== undefined) {
    const scope = scopeAt(place, frame, node.uses, { output: value });
    const failing = resolvePartly(node.failWhen, scope, node.id, 'failWhen');
    unresolved.push(...failing.unresolved);
    if (!hasUnknown(failing.value) && truthy(failing.value)) {
      throw new StepFailure('FailedCondition', `step "${node.id}": failWhen became true`);
    }
  }
  return { value, unresolved };
}

/** What `results.ID` has of a call that the tool itself reported as failed. */
export function failureDetail(error: StepFailure): JsonObject | undefined {
  if (!(error instanceof ToolFailure)) return undefined;
  const { content, structured } = error.result;
  return {
    content: content as Json,
    ...(structured === undefined ? {} : { structured }),
    isError: true,
    server: error.detail.server ?? '',
    tool: error.detail.tool ?? '',
  };
}
