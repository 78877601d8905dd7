/**
 * What a failed call means, as a StepFailure: was it sent, was it answered, may it be made again.
 *
 *     nothing left this process, or the server refused before it looked   ServerUnavailable
 *     the server answered with an error                                   InvalidArguments, UnknownTool, ToolError
 *     sent, no answer, may be repeated                                    ToolTimeout, TransportError
 *     sent, no answer, may not be repeated                                OutcomeUnknown
 */
import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { type ErrorKind, StepFailure } from '../blueprint/errors.ts';
import { cleanText } from './clean-text.ts';
import { LOST_CODE } from './http-transport.ts';
import { withoutSecrets } from './secrets.ts';
import { TOO_LONG_CODE } from './stdio-transport.ts';

export interface CallContext {
  server: string;
  tool: string;
  timeoutMs: number;
  /** Whether a call of unknown outcome may be made again. */
  repeatable: boolean;
  /** Why the connection ended, if it did. */
  endReason(): string | undefined;
  /** Values that stand in no message. */
  secrets: readonly string[];
}

/** HTTP statuses with which a server or what stands before it refuses a request: every 4xx but 408, and 503. */
const REFUSED_STATUSES = new Map([
  [401, 'it refuses our credentials'],
  [403, 'it does not let us in'],
  [404, 'there is no MCP endpoint at its URL'],
  [405, 'there is no MCP endpoint at its URL'],
  [407, 'a proxy refuses our credentials'],
  [413, 'the arguments are too large for it'],
  [421, 'its URL leads to the wrong host'],
  [429, 'it has too many requests'],
  [503, 'it is not ready'],
]);

/** True where nothing was sent, so that sending it on a new connection is no repetition. */
export function wasNotSent(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'NotSentError') return true;
    if (cause instanceof SdkError && cause.code === SdkErrorCode.NotConnected) return true;
    // Thrown by the SDK's request() before it has a transport; it has no code.
    if (cause.message === 'Not connected' && !(cause instanceof ProtocolError)) return true;
  }
  return false;
}

/** True where a server with sessions has forgotten ours: HTTP 404, of some servers 400. Nothing was carried out. */
export function isSessionGone(error: unknown, sessionId: string | undefined): boolean {
  const status = statusOf(error);
  return sessionId !== undefined && (status === 404 || status === 400);
}

export function callFailure(error: unknown, context: CallContext): StepFailure {
  if (error instanceof StepFailure) return error;
  const { server, tool } = context;
  const fail = (kind: ErrorKind, message: string) =>
    new StepFailure(kind, message, { server, tool }, { cause: error });
  const unknown = (repeatable: ErrorKind, what: string) =>
    context.repeatable
      ? fail(repeatable, what)
      : fail('OutcomeUnknown', `${what}; it was sent and may have been carried out`);

  if (wasNotSent(error)) {
    return fail(
      'ServerUnavailable',
      `server "${server}" cannot be reached: ${notSentReason(error, context)}`,
    );
  }
  const status = statusOf(error);
  if (status !== undefined) {
    const clientError = status >= 400 && status < 500 && status !== 408;
    const refused = REFUSED_STATUSES.get(status) ?? (clientError ? 'it refuses the request' : undefined);
    if (refused !== undefined)
      return fail('ServerUnavailable', `server "${server}" answered HTTP ${status}: ${refused}`);
    return unknown('TransportError', `server "${server}" answered HTTP ${status} to the call of "${tool}"`);
  }
  if (error instanceof ProtocolError) return answered(error, context, fail, unknown);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) {
      return unknown('ToolTimeout', `"${tool}" did not answer within ${context.timeoutMs} ms`);
    }
    if (error.code === SdkErrorCode.UnsupportedResultType) {
      return fail(
        'ToolError',
        `"${tool}" asks for more input; sampling and elicitation are not offered to it`,
      );
    }
    if (error.code === SdkErrorCode.InvalidResult) {
      return unknown('TransportError', invalidResult(context));
    }
  }
  const ended = context.endReason();
  const reason = ended === undefined ? 'the connection broke' : `server "${server}" ended (${ended})`;
  return unknown('TransportError', `${reason} before "${tool}" answered`);
}

function answered(
  error: ProtocolError,
  context: CallContext,
  fail: (kind: ErrorKind, message: string) => StepFailure,
  unknown: (repeatable: ErrorKind, what: string) => StepFailure,
): StepFailure {
  switch (error.code) {
    case TOO_LONG_CODE:
      return fail('ResultTooLarge', error.message);
    case LOST_CODE:
      return unknown('TransportError', `the connection broke before "${context.tool}" answered`);
    case -32_601:
      return fail('UnknownTool', `server "${context.server}" does not answer tool calls`);
    case -32_602:
      // Servers on the SDK check their own result last, and say so with this code: the tool has been carried out.
      if (/Invalid tools\/call result/.test(error.message))
        return unknown('TransportError', invalidResult(context));
      if (/\bnot found\b|\bunknown tool\b/i.test(error.message))
        return fail('UnknownTool', textOf(error, context));
      return fail('InvalidArguments', textOf(error, context));
    default:
      return fail('ToolError', textOf(error, context));
  }
}

function invalidResult({ tool }: CallContext): string {
  return `what "${tool}" answered is not a valid tool result`;
}

/** The server's own text, cleaned; the SDK's prefix says nothing to a reader. */
function textOf(error: ProtocolError, { secrets }: CallContext): string {
  const text = withoutSecrets(error.message.replace(/^MCP error -?\d+: /, ''), secrets);
  return cleanText(text) || `the server answered with error ${error.code}`;
}

function statusOf(error: unknown): number | undefined {
  const status = error instanceof SdkError ? (error as { status?: unknown }).status : undefined;
  return typeof status === 'number' ? status : undefined;
}

function notSentReason(error: unknown, context: CallContext): string {
  const ended = context.endReason();
  if (ended !== undefined) return ended;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'NotSentError') return cause.message;
  }
  return 'it is not connected';
}
