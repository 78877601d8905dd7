/**
 * How every AWS client of the project is configured, for AWS and for one machine alike: only the endpoint and the
 * credentials differ. Nothing here opens a connection.
 *
 * Importing this module silences the SDK's notice about Node 20, which is read when a client is made. The pinned SDK
 * supports Node 20; the notice is about versions of 2027.
 */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

export const LOCAL_REGION = 'us-east-1';
export const LOCAL_ACCOUNT = '000000000000';
/** The stand-ins want a signed request but verify no signature, so these are no secret. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface AwsConfig {
  region: string;
  /** URL of a stand-in; absent: AWS itself. */
  endpoint?: string;
  /** Absent: the SDK's default chain (the function's role). */
  credentials?: AwsCredentials;
}

/** What the SDK's clients take from us, spelled out so that it fits each of them. */
export interface ClientConfig {
  region: string;
  endpoint?: string;
  credentials?: AwsCredentials;
  maxAttempts: number;
  requestHandler: {
    connectionTimeout: number;
    requestTimeout: number;
    throwOnRequestTimeout: boolean;
    httpAgent: { keepAlive: boolean; maxSockets: number };
    httpsAgent: { keepAlive: boolean; maxSockets: number };
  };
}

/** A loop of 400 items at once writes from one process; fewer sockets would make them queue. */
const MAX_SOCKETS = 512;

/**
 * Configuration of one client. `requestTimeoutMs` (default 60 s) bounds one HTTP exchange; a client that invokes functions
 * synchronously must raise it above the function's limit.
 */
export function clientConfig(config: AwsConfig, requestTimeoutMs = 60_000): ClientConfig {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  return {
    region: config.region,
    ...(config.endpoint === undefined ? {} : { endpoint: config.endpoint }),
    ...(config.credentials === undefined ? {} : { credentials: config.credentials }),
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: requestTimeoutMs,
      // Without it the SDK only prints a warning and waits on, in a function until its own time is over.
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}
