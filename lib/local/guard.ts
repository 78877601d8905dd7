/**
 * Who may speak to a loopback listener. A web page that the user has open can send requests to 127.0.0.1 too, and a name
 * of its own can be made to resolve there, so every listener asks before it reads a body:
 *
 * - `Host` must be the listener's own address (a rebound name is another one);
 * - `Origin`, where present, must be listed;
 * - `Sec-Fetch-Site` must not say cross-site;
 * - a stand-in wants a SigV4 `Authorization` header, which no page can send without a preflight that is never answered.
 *
 * No CORS header is sent to anybody.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { sourceFault } from '../http/request-source.ts';

export interface GuardOptions {
  /** Port of the listener, as a client writes it in `Host`. */
  port: number;
  /** Values of `Origin` that may speak. Default: none. */
  allowedOrigins?: readonly string[];
  /** Whether a signed request is wanted (presence, not validity). Default: false. */
  signed?: boolean;
}

export interface Refusal {
  status: 403;
  reason: string;
}

const SIGNATURE = /^AWS4-HMAC-SHA256\s+\S/;

/** Why a request is refused, from its headers alone; undefined: let it in. */
export function refusalOf(headers: IncomingHttpHeaders, options: GuardOptions): Refusal | undefined {
  const site = headers['sec-fetch-site'];
  const fault = sourceFault(
    {
      host: headers.host,
      origin: headers.origin,
      fetchSite: site === undefined ? undefined : String(site),
    },
    { hosts: ownHosts(options.port), origins: options.allowedOrigins ?? [] },
  );
  if (fault !== undefined) return refuse(fault);
  if (options.signed === true && !SIGNATURE.test(headers.authorization ?? '')) {
    return refuse('The request has no AWS Signature Version 4 Authorization header.');
  }
  return undefined;
}

function ownHosts(port: number): string[] {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const own = names.map((name) => `${name}:${port}`);
  // A client leaves out the port that its scheme implies.
  return port === 80 ? [...own, ...names] : own;
}

function refuse(reason: string): Refusal {
  return { status: 403, reason };
}
