/**
 * Room for a new version of a state machine. Step Functions keeps 1,000 versions of one and deletes none by itself, so a workflow that is
 * saved for the thousand-and-first time gives up its oldest that nothing needs any more.
 *
 * What is kept: the current revision, what a schedule or an open run of the workflow names, and what a workflow, a schedule's revision
 * or an open run pins as a sub-workflow. A revision that is given up is marked first, and says so to whoever asks for it; its
 * document stays readable. Executions of a deleted version run on.
 * Sources: Step Functions developer guide, "Service quotas" and "State machine versions".
 */
import { DeleteStateMachineVersionCommand, ListStateMachineVersionsCommand } from '@aws-sdk/client-sfn';
import { getDocument } from '../store/documents.ts';
import type { WorkflowRevision } from '../store/records.ts';
import { listOpenRuns } from '../store/run-lists.ts';
import { listScheduleRecords } from '../store/schedules.ts';
import {
  getBoundRevision,
  getHead,
  getRevision,
  listHeads,
  listRevisions,
  retireRevision,
} from '../store/workflows.ts';
import type { EngineEnvironment } from './environment.ts';
import { EngineError } from './errors.ts';

/** Given up at once, so that the next saves find room. */
const RETIRED_AT_ONCE = 50;
/** Documents read at once. */
const READ_AT_ONCE = 25;

/**
 * Deletes the oldest versions of a workflow's machine that nothing names.
 * @throws EngineError LimitExceeded where every one of them is needed.
 */
export async function retireVersions(
  env: EngineEnvironment,
  workflow: string,
  stateMachineArn: string,
): Promise<void> {
  const [versions, revisions, needed] = await Promise.all([
    oldestFirst(env, stateMachineArn),
    allRevisions(env, workflow),
    neededVersions(env, workflow),
  ]);
  const going = versions.filter((arn) => !needed.has(arn)).slice(0, RETIRED_AT_ONCE);
  if (going.length === 0) {
    throw new EngineError(
      'LimitExceeded',
      `workflow "${workflow}" has as many versions as Step Functions keeps, ${versions.length}, and schedules, open runs or other workflows name each; save it under another id`,
    );
  }
  for (const arn of going) {
    const revision = revisions.get(arn);
    // One that a save left behind when it broke off has none.
    if (revision !== undefined && !(await retireRevision(env.store, workflow, revision.revision, arn)))
      continue;
    await env.sfn.send(new DeleteStateMachineVersionCommand({ stateMachineVersionArn: arn }));
  }
  env.log({ level: 'info', event: 'versions-retired', workflow, count: going.length });
}

async function oldestFirst(env: EngineEnvironment, stateMachineArn: string): Promise<string[]> {
  const arns: string[] = [];
  let nextToken: string | undefined;
  do {
    const page = await env.sfn.send(
      new ListStateMachineVersionsCommand({ stateMachineArn, maxResults: 1000, nextToken }),
    );
    for (const { stateMachineVersionArn } of page.stateMachineVersions ?? []) {
      if (stateMachineVersionArn !== undefined) arns.push(stateMachineVersionArn);
    }
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  // The service answers the newest first.
  return arns.reverse();
}

/** The revisions of a workflow by version. */
async function allRevisions(
  env: EngineEnvironment,
  workflow: string,
): Promise<Map<string, WorkflowRevision>> {
  const found = new Map<string, WorkflowRevision>();
  let cursor: number | undefined;
  do {
    const page = await listRevisions(env.store, workflow, {
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const revision of page.revisions) {
      if (revision.versionArn !== undefined) found.set(revision.versionArn, revision);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

/** A document that something may run. */
interface Named {
  workflow: string;
  hash: string;
}

async function neededVersions(env: EngineEnvironment, workflow: string): Promise<Set<string>> {
  const needed = new Set<string>();
  const head = await getHead(env.store, workflow);
  if (head !== undefined) needed.add(head.versionArn);
  const named: Named[] = [];
  for (const run of await listOpenRuns(env.store)) {
    named.push(run);
    if (run.workflow === workflow) needed.add(run.versionArn);
  }
  for (const other of await liveWorkflows(env)) {
    named.push(other);
    for (const schedule of await listScheduleRecords(env.store, other.workflow)) {
      if (other.workflow === workflow) needed.add(schedule.versionArn);
      const revision = await getRevision(env.store, other.workflow, schedule.revision);
      if (revision !== undefined) named.push(revision);
    }
  }
  for (const arn of await pinnedVersions(env, workflow, named)) needed.add(arn);
  return needed;
}

async function liveWorkflows(env: EngineEnvironment): Promise<Named[]> {
  const found: Named[] = [];
  let cursor: string | undefined;
  do {
    const page = await listHeads(env.store, { limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.heads);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

/** Versions of the workflow that these documents, and all that they pin, are bound to. */
async function pinnedVersions(
  env: EngineEnvironment,
  workflow: string,
  named: readonly Named[],
): Promise<Set<string>> {
  const pinned = new Set<string>();
  const seen = new Set<string>();
  let level = unseen(named, seen);
  while (level.length > 0) {
    const next: Named[] = [];
    for (let from = 0; from < level.length; from += READ_AT_ONCE) {
      const batch = level.slice(from, from + READ_AT_ONCE);
      const documents = await Promise.all(
        batch.map((each) => getDocument(env.store, each.workflow, each.hash)),
      );
      for (const binding of documents.flatMap((document) => Object.values(document.workflows))) {
        next.push(binding);
        const bound = binding.workflow === workflow ? await getBoundRevision(env.store, binding) : undefined;
        if (bound?.versionArn !== undefined) pinned.add(bound.versionArn);
      }
    }
    level = unseen(next, seen);
  }
  return pinned;
}

function unseen(named: readonly Named[], seen: Set<string>): Named[] {
  return named.filter(({ hash }) => {
    if (seen.has(hash)) return false;
    seen.add(hash);
    return true;
  });
}
