/**
 * Run-time faults of steps. A kind is the error name of the state machine (its Catch clauses name it), so the list is
 * part of the compiled machines' contract: kinds are added, never renamed.
 */
export const ERROR_KINDS = [
  'ToolError',
  'ToolTimeout',
  'TransportError',
  'ServerUnavailable',
  'OutcomeUnknown',
  'InvalidArguments',
  'UnknownTool',
  'ToolNotAllowed',
  'TemplateError',
  'ParseError',
  'FailedCondition',
  'ResultTooLarge',
  'LimitExceeded',
  'SubWorkflowFailed',
  'Cancelled',
] as const;

export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Kinds that a blueprint's `maxRetries` applies to. */
export const RETRIED_KINDS: readonly ErrorKind[] = [
  'ToolError',
  'ToolTimeout',
  'TransportError',
  'ServerUnavailable',
];

/** The one shape of a failure: in a sequence, an item, a branch, a batch, a run's answer. */
export interface StepError {
  step: string;
  /** Where it happened, e.g. `pods/00012/describe`. */
  path: string;
  /** Index of the loop item, where there is one. */
  index?: number;
  kind: ErrorKind;
  /** Our sentence, with the tool's own cleaned text in it for those who may read the run. */
  message: string;
  attempts: number;
  server?: string;
  tool?: string;
}

/** A step failed. `message` never holds a stack, a secret or a path of ours. */
export class StepFailure extends Error {
  readonly kind: ErrorKind;
  readonly detail: Partial<Omit<StepError, 'kind' | 'message'>>;

  constructor(
    kind: ErrorKind,
    message: string,
    detail: Partial<Omit<StepError, 'kind' | 'message'>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = kind;
    this.kind = kind;
    this.detail = detail;
  }
}
