/** What each run-time error kind means, for docs/errors.md: when it is met, and what an author does about it. */
import type { ErrorKind } from './errors.ts';

interface KindText {
  when: string;
  /** What an author does about it. */
  remedy: string;
}

export const ERROR_KIND_TEXTS: Record<ErrorKind, KindText> = {
  ToolError: {
    when: 'The tool answered with `isError`. The message holds its own text, cleaned.',
    remedy: 'Read the message. Give `maxRetries` where the fault passes by itself.',
  },
  ToolTimeout: {
    when: 'A time limit ended a call that may be repeated: its tool is read-only or idempotent, or the step says `retryUnknown`.',
    remedy:
      "Raise the step's `timeoutSeconds` or the server's `timeoutMs`, ask the tool for less at once, or give `maxRetries`.",
  },
  TransportError: {
    when: 'The connection broke, or what came is not MCP, on a call that may be repeated.',
    remedy: 'Give `maxRetries`; look at the server if it stays.',
  },
  ServerUnavailable: {
    when: 'The server could not be reached, so nothing was sent.',
    remedy: 'Start the server or correct mcp.json. `maxRetries` bridges a restart.',
  },
  OutcomeUnknown: {
    when: 'The call was sent, no answer came, and the tool is not known to be repeatable: it may have been carried out or not.',
    remedy:
      'Look at what the tool changed, then run again or redrive. Where repeating does no harm, say `"retryUnknown": true`, or mark the tool as idempotent on a server whose annotations are trusted.',
  },
  InvalidArguments: {
    when: "The arguments do not fit the tool's input schema, or an argument that it requires came out null. The tool was not carried out.",
    remedy:
      "The message names the argument, and the expression that gave null. Correct it, or give a default: `{{ x || '' }}`.",
  },
  UnknownTool: {
    when: 'No server offers the tool, or two do and the step names none.',
    remedy: 'Write `server/tool`, or connect the server.',
  },
  ToolNotAllowed: {
    when: "The server's allow-list (`tools` in mcp.json) does not have the tool, or the authority that the run works with does not allow it. Nothing was sent.",
    remedy:
      'The message says which. Allow it in mcp.json, start the run as a principal that may use the tool, or use another tool.',
  },
  TemplateError: {
    when: 'An expression has no value: a function was given a type that it refuses, null stands inside a text, or `over` is null.',
    remedy:
      'The message has the expression and the keys that do exist. Give a default before functions and texts: `` length(x || `[]`) ``.',
  },
  ParseError: {
    when: 'The result is not what `parse` says: bad JSON or YAML, or no structured content.',
    remedy: 'Try the tool once, also the empty and the missing case, and choose `parse` by what it answers.',
  },
  FailedCondition: {
    when: "The step's `failWhen` was true.",
    remedy: 'The blueprint says so. `call_tool` shows what the tool answers and the condition looked at.',
  },
  ResultTooLarge: {
    when: 'An expression would build more than 16 MiB, or a result is larger than what is kept.',
    remedy: 'Ask the tool for less (pages, filters, fields), or narrow it with `select`.',
  },
  LimitExceeded: {
    when: 'A limit was reached: `maxItems`, `max`, the time of a step, or a budget (100,000 calls, 1,000 sub-runs, depth 10).',
    remedy: 'The message names the limit. Raise it, or do less in one run.',
  },
  SubWorkflowFailed: {
    when: 'The run of a sub-workflow ended in failure, was cancelled, or ran out of time.',
    remedy: 'Read the child run; its id is in the message.',
  },
  Cancelled: {
    when: "`cancel_run`, a stop in the console or the run's time limit ended the run while the step ran, or before it began.",
    remedy:
      "None where someone asked for it; else raise the blueprint's `timeoutSeconds`. Such a run can be redriven.",
  },
};
