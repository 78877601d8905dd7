/** ValidateStateMachineDefinition: diagnostics as data, nothing is refused but a malformed request. */

import { validateDefinition } from '../../validate/validate.ts';
import type { Operation } from '../context.ts';
import { readParameters } from '../parameters.ts';

const DEFAULT_RESULTS = 100;

export const validateStateMachineDefinition: Operation = async (_context, input) => {
  const request = readParameters(input, {
    definition: { type: 'string', required: true, min: 1, maxBytes: 1_048_576 },
    type: { type: 'string', values: ['STANDARD', 'EXPRESS'] },
    severity: { type: 'string', values: ['ERROR', 'WARNING'] },
    maxResults: { type: 'integer', min: 0, max: DEFAULT_RESULTS },
  });
  const type = request.type === 'EXPRESS' ? 'EXPRESS' : 'STANDARD';
  const all = validateDefinition(request.definition, type);
  const failed = all.some((each) => each.severity === 'ERROR');
  const asked = request.severity === 'WARNING' ? all : all.filter((each) => each.severity === 'ERROR');
  const limit =
    request.maxResults === undefined || request.maxResults === 0 ? DEFAULT_RESULTS : request.maxResults;
  return {
    result: failed ? 'FAIL' : 'OK',
    diagnostics: asked.slice(0, limit).map((each) => ({ ...each })),
    truncated: asked.length > limit,
  };
};
