/**
 * CloudFormation's custom resources: it sends an event, and waits for an answer at a URL that is good for this answer alone. What
 * always holds: whatever happens in `work` is answered, a failure with one line; the URL, which is a credential, is in no
 * message. An answer that cannot be given is thrown, so that Lambda delivers the event again.
 * Source: CloudFormation user guide, "Custom resource request and response reference".
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { cleanText } from '../downstream/clean-text.ts';
import type { LogEntry } from '../telemetry/telemetry.ts';

export const customResourceEvent = z.looseObject({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  RequestId: z.string().min(1),
  StackId: z.string().min(1),
  LogicalResourceId: z.string().min(1),
  ResourceType: z.string().min(1),
  ResponseURL: z.string().min(1),
  PhysicalResourceId: z.string().min(1).optional(),
  ResourceProperties: z.unknown(),
});

export type CustomResourceEvent = z.infer<typeof customResourceEvent>;

export interface CustomResourceOptions {
  /** Identity of a resource that is created; it never changes, so no update is a replacement. */
  physicalId: string;
  log(entry: LogEntry): void;
  /** Default: between two tries of an answer 0.5, 1, 2 and 4 s. */
  delaysMs?: readonly number[];
  /** Default 5 s. */
  timeoutMs?: number;
  /** Default: 2, 5, 10 and 15 s until rights that are not there yet are asked for again. */
  rightsDelaysMs?: readonly number[];
}

const DELAYS_MS = [500, 1000, 2000, 4000];
const TIMEOUT_MS = 5000;
const RIGHTS_DELAYS_MS = [2000, 5000, 10_000, 15_000];
/** An answer has at most 4,096 bytes. */
const MAX_REASON_BYTES = 1024;

/**
 * Does the work and answers. @returns what was done, for the log.
 * @throws Error where the answer could not be given
 */
export async function answerCustomResource(
  event: CustomResourceEvent,
  options: CustomResourceOptions,
  work: () => Promise<string>,
): Promise<string> {
  let outcome: string;
  let failure: string | undefined;
  try {
    outcome = await withRights(work, options);
  } catch (error) {
    failure = reasonOf(error, event.ResponseURL);
    outcome = `failed: ${failure}`;
    options.log({ level: 'error', event: 'custom-resource', request: event.RequestType, message: failure });
  }
  const { StackId, RequestId, LogicalResourceId, PhysicalResourceId = options.physicalId } = event;
  const answer = {
    Status: failure === undefined ? 'SUCCESS' : 'FAILED',
    ...(failure === undefined ? {} : { Reason: failure }),
    PhysicalResourceId,
    StackId,
    RequestId,
    LogicalResourceId,
  };
  await tell(event.ResponseURL, JSON.stringify(answer), options);
  return outcome;
}

/**
 * The role that CloudFormation has just given rights to has them a moment later. Source: IAM user guide, "Changes that I make are not
 * always immediately visible".
 */
async function withRights(
  work: () => Promise<string>,
  { rightsDelaysMs = RIGHTS_DELAYS_MS }: CustomResourceOptions,
): Promise<string> {
  for (const delay of rightsDelaysMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error && /^AccessDenied(Exception)?$/.test(error.name))) throw error;
      await sleep(delay);
    }
  }
  return work();
}

/** One line, for whoever deploys. */
function reasonOf(error: unknown, url: string): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown failure';
  return cleanText(text.replaceAll(url, '***').replace(/\s+/g, ' '), MAX_REASON_BYTES);
}

async function tell(
  url: string,
  body: string,
  { delaysMs = DELAYS_MS, timeoutMs = TIMEOUT_MS }: CustomResourceOptions,
): Promise<void> {
  if (!mayBeAnswered(url)) throw new Error('the ResponseURL of the event is no https URL');
  let fault = '';
  for (const delay of [...delaysMs, undefined]) {
    try {
      const response = await fetch(url, {
        method: 'PUT',
        // Bytes have no Content-Type, and the URL is signed without one.
        body: Buffer.from(body),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      if (response.ok) return;
      fault = `HTTP ${response.status}`;
    } catch (error) {
      fault = error instanceof Error ? error.name : 'unknown';
    }
    if (delay !== undefined) await sleep(delay);
  }
  throw new Error(`CloudFormation could not be answered (${fault})`);
}

/** CloudFormation's is https; a rehearsal's is on this machine. */
function mayBeAnswered(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1');
}
