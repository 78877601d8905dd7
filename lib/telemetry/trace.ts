/**
 * Subsegments of an X-Ray trace, sent to the daemon that Lambda runs beside a function: a line of JSON each, by UDP. X-Ray's
 * own SDK would follow every promise of the process (async_hooks) to know whose subsegment is whose; here each hangs below
 * the function's own segment, so nothing has to be followed, and a function that is not traced pays nothing.
 *
 * What always holds: nothing is sent unless the invocation is sampled; at most MAX_SPANS an invocation, because a loop makes
 * thousands of calls; a daemon that is not there is no fault.
 * Source: X-Ray developer guide, "Segment documents" and "Sending segment documents to the X-Ray daemon"; Lambda's
 * `_X_AMZN_TRACE_ID` and `AWS_XRAY_DAEMON_ADDRESS`: Lambda developer guide, "Defined runtime environment variables".
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:dgram';
import type { Telemetry } from './telemetry.ts';

/** Subsegments of one invocation; calls beyond are made without. */
export const MAX_SPANS = 100;
const MAX_TEXT = 200;
/** The longest trace header that Step Functions takes. Source: API reference, StartExecution. */
const MAX_HEADER = 256;
/** What X-Ray allows in a name. */
const NOT_IN_NAMES = /[^\p{L}\p{N}\p{Z}_.:/%&#=+\\\-@]/gu;

export interface Tracer extends Pick<Telemetry, 'span' | 'traceHeader'> {
  /** Waits until everything is on its way to the daemon, and begins to count anew. At the end of each invocation. */
  flush(): Promise<void>;
}

interface Trace {
  root: string;
  parent: string;
}

/** `variables`: default `process.env`, where the runtime puts the trace of each invocation. */
export function createTracer(variables: Readonly<Record<string, string | undefined>> = process.env): Tracer {
  let spans = 0;
  let socket: Promise<Socket> | undefined;
  const sending = new Set<Promise<void>>();

  function emit(segment: object): void {
    const address = addressOf(variables.AWS_XRAY_DAEMON_ADDRESS);
    if (address === undefined) return;
    socket ??= openSocket();
    const text = `{"format":"json","version":1}\n${JSON.stringify(segment)}`;
    const sent = socket.then(
      (open) => new Promise<void>((resolve) => open.send(text, address.port, address.host, () => resolve())),
    );
    sending.add(sent);
    void sent.finally(() => sending.delete(sent));
  }

  return {
    async span(name, annotations, work, failed = () => false) {
      const trace = spans < MAX_SPANS ? sampledTrace(variables._X_AMZN_TRACE_ID) : undefined;
      if (trace === undefined) return work();
      spans += 1;
      const segment = {
        type: 'subsegment',
        name: name.replace(NOT_IN_NAMES, '_').slice(0, MAX_TEXT),
        id: randomBytes(8).toString('hex'),
        trace_id: trace.root,
        parent_id: trace.parent,
        start_time: Date.now() / 1000,
        annotations: Object.fromEntries(
          Object.entries(annotations).map(([key, value]) => [key, value.slice(0, MAX_TEXT)]),
        ),
      };
      let fault = true;
      try {
        const answer = await work();
        fault = failed(answer);
        return answer;
      } finally {
        emit({ ...segment, end_time: Date.now() / 1000, ...(fault ? { fault } : {}) });
      }
    },
    traceHeader() {
      const header = variables._X_AMZN_TRACE_ID;
      return header !== undefined && header.length <= MAX_HEADER ? header : undefined;
    },
    async flush() {
      spans = 0;
      await Promise.all(sending);
    },
  };
}

/** The trace of `Root=…;Parent=…;Sampled=1`; undefined where it is not sampled. */
function sampledTrace(header: string | undefined): Trace | undefined {
  if (header === undefined) return undefined;
  const fields = new Map(header.split(';').map((field) => field.split('=', 2) as [string, string]));
  const [root, parent] = [fields.get('Root'), fields.get('Parent')];
  if (root === undefined || parent === undefined || fields.get('Sampled') !== '1') return undefined;
  return { root, parent };
}

function addressOf(text: string | undefined): { host: string; port: number } | undefined {
  const match = /^([\d.]+):(\d+)$/.exec(text ?? '');
  return match?.[1] === undefined ? undefined : { host: match[1], port: Number(match[2]) };
}

async function openSocket(): Promise<Socket> {
  const { createSocket } = await import('node:dgram');
  const socket = createSocket('udp4');
  socket.on('error', () => undefined);
  return socket.unref();
}
