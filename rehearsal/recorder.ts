/**
 * Between the functions and the stand-ins: one loopback listener a service that notes who asks for what and passes the request on
 * as it came. Who asks is told by the access key id in the signature; what it needs allowed by rehearsal/actions.
 *
 * Nothing is refused here: a call that IAM would refuse is noted, and the rehearsal goes on to find the others. One answer is
 * changed, because code may rest on it: S3 tells of an object that is not there (404) only who may list the bucket; others hear
 * AccessDenied (403). Source: S3 API reference, GetObject, "Permissions".
 */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject } from '../lib/blueprint/json.ts';
import { type RunningServer, readRequestBody, startServer } from '../lib/local/http-server.ts';
import type { Needed, ServiceRequest } from './actions/needed.ts';
import { accessKeyOf, type KnownNames, neededBy, readsBody, type ServiceName } from './actions/services.ts';

/** One question to IAM that came up, and in which scenario. */
export interface Recorded extends Needed {
  /** Access key id of who asked. */
  accessKey: string;
  scenario: string;
}

export interface Recorder {
  /** What asks from now on belongs to this scenario. */
  scenario: string;
  readonly calls: readonly Recorded[];
  /** What could not be understood: each fails the rehearsal. */
  readonly faults: readonly string[];
  add(accessKey: string, needs: readonly Needed[]): void;
  /** Starts a listener in front of a stand-in. */
  front(service: ServiceName, target: string): Promise<RunningServer>;
}

export interface RecorderOptions {
  names: KnownNames;
  /** Access keys whose calls are of no interest: who deploys and who looks. */
  ignored: ReadonlySet<string>;
  /** Whether IAM would allow it to who has this access key. */
  mayList(accessKey: string, bucketArn: string): boolean;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;

export function createRecorder(options: RecorderOptions): Recorder {
  const calls: Recorded[] = [];
  const faults: string[] = [];
  const recorder: Recorder = {
    scenario: 'deploy',
    calls,
    faults,
    add(accessKey, needs) {
      if (options.ignored.has(accessKey)) return;
      for (const need of needs) calls.push({ ...need, accessKey, scenario: recorder.scenario });
    },
    front: (service, target) =>
      startServer((request, response) => pass(service, target, request, response), {
        guard: { signed: true },
        onError: (error) => void faults.push(`${service}: ${String(error)}`),
      }),
  };

  async function pass(
    service: ServiceName,
    target: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const accessKey = accessKeyOf(request.headers.authorization) ?? '';
    // Bodies are small enough to be held; only those that tell what is asked are looked at.
    const body = await readRequestBody(request, MAX_BODY_BYTES);
    const needs = understood(service, request, body);
    recorder.add(accessKey, needs);
    const answer = await forward(target, request, body);
    const [first] = needs;
    if (
      service === 'S3' &&
      answer.statusCode === 404 &&
      first !== undefined &&
      first.action === 's3:GetObject'
    ) {
      const bucketArn = first.resource.split('/')[0] ?? '';
      if (!options.ignored.has(accessKey) && !options.mayList(accessKey, bucketArn)) {
        answer.resume();
        denyObject(request, response);
        return;
      }
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  }

  function understood(service: ServiceName, request: IncomingMessage, body: Buffer): Needed[] {
    try {
      return neededBy(service, requestOf(service, request, body), options.names);
    } catch (error) {
      faults.push(`${service}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }
  return recorder;
}

function requestOf(service: ServiceName, request: IncomingMessage, body: Buffer): ServiceRequest {
  let json: unknown = {};
  if (readsBody(service) && body.length > 0) json = JSON.parse(body.toString('utf8'));
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: isJsonObject(json) ? json : ({} as JsonObject),
  };
}

/** Sends the request on; its Host becomes the stand-in's, which its guard wants to see. */
function forward(target: string, request: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const url = new URL(request.url ?? '/', target);
  const {
    'transfer-encoding': _chunked,
    expect: _expect,
    connection: _connection,
    ...headers
  } = request.headers;
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      target,
      {
        method: request.method ?? 'GET',
        // As it came: a URL object would tidy up the path, and S3 keys are not to be tidied.
        path: request.url ?? '/',
        headers: { ...headers, host: url.host, 'content-length': body.length },
      },
      resolve,
    );
    sent.once('error', reject);
    request.once('close', () => {
      // Whoever asked has gone; the stand-in should know.
      if (!request.complete || request.destroyed) sent.destroy();
    });
    sent.end(body);
  });
}

function denyObject(request: IncomingMessage, response: ServerResponse): void {
  const body =
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';
  response.writeHead(403, { 'Content-Type': 'application/xml', 'Content-Length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}
