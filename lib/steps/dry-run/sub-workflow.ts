/** A sub-workflow of a dry run is walked in place: its own program, its own run, the same limits. */
import { StepFailure } from '../../blueprint/errors.ts';
import type { Json, JsonObject } from '../../blueprint/json.ts';
import { MAX_SUBWORKFLOW_DEPTH } from '../../blueprint/limits.ts';
import { resolveParams } from '../../blueprint/params.ts';
import type { ToolAllowList } from '../../blueprint/tool-allow-list.ts';
import type { WorkflowCallNode } from '../../compile/program.ts';
import { getBoundRevision, getHead } from '../../store/workflows.ts';
import { loadDocument } from '../documents.ts';
import type { Frame, Outcome } from '../frame.ts';
import { type CallTrace, resolveArguments, shapeValue } from './call.ts';
import { hasUnknown } from './partial.ts';
import { openOutcome, type Place } from './place.ts';
import { type ProgramEnd, type WalkList, walkProgram } from './program.ts';

/** Walks the step. Throws StepFailure. */
export async function drySubWorkflow(
  place: Place,
  node: WorkflowCallNode,
  frame: Frame,
  trace: CallTrace,
  walkList: WalkList,
): Promise<Outcome> {
  const { dry } = place;
  const { entry } = trace;
  if (place.depth >= MAX_SUBWORKFLOW_DEPTH) {
    throw new StepFailure(
      'LimitExceeded',
      `step "${node.id}": sub-workflows stand ${MAX_SUBWORKFLOW_DEPTH} deep, which is the limit`,
    );
  }
  const args = resolveArguments(place, node, frame);
  entry.arguments = args.shown;
  if (args.unresolved.length > 0) {
    entry.unresolved = [...new Set([...(entry.unresolved ?? []), ...args.unresolved])];
  }
  const { revision, hash, pinned } = await target(place, node);
  const allowed = pinned ? await allowedByPinner(place, node) : place.allowed;
  const loaded = await loadDocument(dry.store, node.workflow, hash);
  const params = checked(node, loaded.index.program.params, args.value);
  trace.listed = dry.list.add(entry);
  const end = await walkProgram(
    {
      dry,
      loaded,
      prefix: `${place.prefix}${frame.at}${node.id}>`,
      depth: place.depth + 1,
      hypothetical: place.hypothetical,
      allowed,
      errors: [],
    },
    { params, revision },
    walkList,
  );
  return adopted(place, node, frame, end);
}

function adopted(place: Place, node: WorkflowCallNode, frame: Frame, end: ProgramEnd): Outcome {
  if ('error' in end) {
    const { kind, message, path, server } = end.error;
    // As in a run: a tool's own text has no place in a sentence of ours; it stands at the step inside.
    const cause = server === undefined ? `${kind}: ${message}` : `${kind} at step "${path}"`;
    throw new StepFailure('SubWorkflowFailed', `the sub-workflow "${node.workflow}" fails: ${cause}`);
  }
  const { value, unresolved } = shapeValue(place, node, frame, end.output.value);
  if (unresolved.length > 0 || hasUnknown(value)) return openOutcome(place.dry, value);
  return { status: 'succeeded', value, attempts: 1, ms: 0 };
}

/** The pinned revision; the current one where the step floats. */
async function target(
  { dry, loaded }: Place,
  node: WorkflowCallNode,
): Promise<{ revision: number; hash: string; pinned: boolean }> {
  const { workflows } = loaded.document;
  const bound = Object.hasOwn(workflows, node.id) ? workflows[node.id] : undefined;
  const head = await getHead(dry.store, node.workflow);
  if (head === undefined || head.deletedAt !== undefined) {
    const what = head === undefined ? 'does not exist' : 'has been deleted';
    throw new StepFailure('SubWorkflowFailed', `step "${node.id}": the workflow "${node.workflow}" ${what}`);
  }
  if (bound === undefined) return { revision: head.revision, hash: head.hash, pinned: false };
  const { revision, hash } = bound;
  if (revision !== undefined) return { revision, hash, pinned: true };
  const found = await getBoundRevision(dry.store, bound);
  if (found === undefined) {
    throw new StepFailure(
      'SubWorkflowFailed',
      `step "${node.id}": the workflow "${node.workflow}" has no such revision`,
    );
  }
  return { revision: found.revision, hash, pinned: true };
}

/** As in a run (ops/prepare.ts): with the authority of who saved the revision that pins it. */
async function allowedByPinner({ dry, loaded }: Place, node: WorkflowCallNode): Promise<ToolAllowList> {
  const { hash, document } = loaded;
  const saved = await getBoundRevision(dry.store, { workflow: document.blueprint.id, hash });
  if (saved !== undefined) return saved.principal.tools;
  throw new StepFailure(
    'SubWorkflowFailed',
    `step "${node.id}": there is no record of who pinned the workflow "${node.workflow}", so it has no authority`,
  );
}

/** The child's parameters, checked as far as they are known. */
function checked(
  node: WorkflowCallNode,
  declarations: Parameters<typeof resolveParams>[0],
  given: JsonObject,
): JsonObject {
  const unknown: [string, Json][] = [];
  const known: [string, Json][] = [];
  for (const [name, value] of Object.entries(given)) {
    (Object.hasOwn(declarations, name) && hasUnknown(value) ? unknown : known).push([name, value]);
  }
  const open = new Set(unknown.map(([name]) => name));
  const rest = Object.entries(declarations).filter(([name]) => !open.has(name));
  const { params, problems } = resolveParams(Object.fromEntries(rest), Object.fromEntries(known));
  if (problems.length > 0) {
    throw new StepFailure('InvalidArguments', `step "${node.id}": ${problems.join('; ')}`);
  }
  return { ...params, ...Object.fromEntries(unknown) };
}
