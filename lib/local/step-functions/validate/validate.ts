/**
 * Definitions of state machines, validated as AWS validates them at CreateStateMachine, UpdateStateMachine and
 * ValidateStateMachineDefinition. In this order: the text is JSON, the fields of the machine and of each state, the
 * expressions in them, then each list of states as a graph.
 *
 * JSONPath states are checked for their fields only, not for their paths: this project writes JSONata.
 */
import { isJsonObject, type Json } from '../../../blueprint/json.ts';
import { createReport, type Diagnostic } from './diagnostic.ts';
import { checkDuplicates } from './duplicates.ts';
import { jsonSyntaxError } from './json-syntax.ts';
import { checkMachine } from './machine.ts';

/** @param type of the machine; what EXPRESS does not have is refused for it. Never throws. */
export function validateDefinition(text: string, type: 'STANDARD' | 'EXPRESS'): Diagnostic[] {
  const report = createReport();
  const definition = parse(text, report);
  if (definition === undefined) return [...report.diagnostics];
  if (!isJsonObject(definition)) {
    report.add('SCHEMA_VALIDATION_FAILED', 'Definition must be a valid JSON object');
    return [...report.diagnostics];
  }
  checkMachine(definition, type, report);
  checkDuplicates(text, definition, report);
  return [...report.diagnostics];
}

function parse(text: string, report: ReturnType<typeof createReport>): Json | undefined {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    const error = jsonSyntaxError(text);
    if (error === undefined) report.add('INVALID_JSON_DESCRIPTION', 'The definition is not valid JSON');
    else report.add('INVALID_JSON_DESCRIPTION', `${error.message}\n at ${error.source}`, error.source);
    return undefined;
  }
}
