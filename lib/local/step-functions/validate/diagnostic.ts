/**
 * What ValidateStateMachineDefinition answers for a fault, and the list that the rules write into.
 *
 * Codes are those of the API reference (ValidateStateMachineDefinitionDiagnostic) and the two that AWS has for JSONata. Texts are AWS's
 * where they were recorded or measured in public (localstack's AWS-validated tests; issues and pull requests of floci-io/floci
 * and aws/aws-cdk that quote the service); the others are ours. AWS says that wordings may change: rely on codes.
 */
type DiagnosticCode =
  | 'INVALID_JSON_DESCRIPTION'
  | 'SCHEMA_VALIDATION_FAILED'
  | 'MISSING_TRANSITION_TARGET'
  | 'MISSING_END_STATE'
  | 'DUPLICATE_STATE_NAME'
  | 'INVALID_STATE_NAME'
  | 'DUPLICATE_LABEL_NAME'
  | 'INVALID_LABEL_NAME'
  | 'TOO_DEEPLY_NESTED'
  | 'INVALID_JSONATA_EXPRESSION'
  | 'UNSUPPORTED_JSONATA_EXPRESSION';

export interface Diagnostic {
  severity: 'ERROR' | 'WARNING';
  code: DiagnosticCode;
  message: string;
  /** `/States/A/Choices[0]/Next`; absent where the fault is the whole definition's. */
  location?: string;
}

export interface Report {
  /** A fault of the schema, the usual code. */
  schema(message: string, location: string): void;
  add(code: DiagnosticCode, message: string, location?: string): void;
  readonly diagnostics: readonly Diagnostic[];
}

export function createReport(): Report {
  const diagnostics: Diagnostic[] = [];
  const add: Report['add'] = (code, message, location) => {
    const diagnostic: Diagnostic = { severity: 'ERROR', code, message };
    if (location !== undefined) diagnostic.location = location;
    diagnostics.push(diagnostic);
  };
  return {
    diagnostics,
    add,
    schema: (message, location) => add('SCHEMA_VALIDATION_FAILED', message, location),
  };
}
