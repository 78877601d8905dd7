/** Headers that hold credentials: a bearer token, a signature's session token, a proxy's password, a session. */
const CREDENTIALS = ['authorization', 'proxy-authorization', 'cookie', 'x-amz-security-token'];

/** A request as the protocol's own code sees it: no credential, and no body, which has been read. */
export function withoutCredentials(request: Request): Request {
  const headers = new Headers(request.headers);
  for (const name of CREDENTIALS) headers.delete(name);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}
