/** Events as a function URL sends them, and the MCP requests in them. */

export const HOST = 'abcdefghij0123456789.lambda-url.us-east-1.on.aws';

export interface UrlRequest {
  method?: string;
  path?: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Of AWS_IAM. */
  userArn?: string;
}

/** Payload format 2.0. A body of bytes is sent as base64, as Lambda does. */
export function urlEvent(request: UrlRequest = {}) {
  const { method = 'POST', path = '/mcp', query = '', headers = {}, body, userArn } = request;
  const encoded = typeof body === 'object';
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers: {
      host: HOST,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    requestContext: {
      accountId: 'anonymous',
      domainName: HOST,
      domainPrefix: 'abcdefghij0123456789',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'test' },
      requestId: 'request',
      stage: '$default',
      ...(userArn === undefined ? {} : { authorizer: { iam: { userArn } } }),
    },
    ...(body === undefined ? {} : { body: encoded ? Buffer.from(body).toString('base64') : body }),
    isBase64Encoded: encoded,
  };
}

/** A JSON-RPC request of revision 2026-07-28, in an event. */
export function mcpEvent(
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name: Record<string, string> = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  return urlEvent({
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  });
}
