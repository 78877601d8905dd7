/** What this part throws: a source that is no expression, and an evaluation that has no value. Nothing else. */

/** `offset` counts UTF-16 units from the start of the expression. */
export class ExpressionSyntaxError extends Error {
  readonly offset: number;
  readonly hint: string | undefined;
  readonly kind: 'syntax' | 'too-long' | 'too-deep';

  constructor(
    message: string,
    offset: number,
    hint?: string,
    kind: ExpressionSyntaxError['kind'] = 'syntax',
  ) {
    super(message);
    this.name = 'ExpressionSyntaxError';
    this.offset = offset;
    this.hint = hint;
    this.kind = kind;
  }
}

/**
 * An evaluation failed; `kind` is the step's error kind. `message` names functions and types, never the data itself.
 * `expression` is the source, filled in by the evaluation that failed.
 */
export class EvaluationError extends Error {
  readonly kind: 'TemplateError' | 'ResultTooLarge';
  readonly expression: string | undefined;

  constructor(message: string, kind: EvaluationError['kind'] = 'TemplateError', expression?: string) {
    super(message);
    this.name = kind;
    this.kind = kind;
    this.expression = expression;
  }
}
