/** What the prompt teaches must itself be right. */
import { encode } from 'gpt-tokenizer';
import { expect, it } from 'vitest';
import { blueprintShape } from '../../lib/blueprint/schema.ts';
import { PARSE_MODES } from '../../lib/blueprint/types.ts';
import { validateBlueprint } from '../../lib/compile/validate.ts';
import { DESIGN_WORKFLOW } from '../../lib/mcp/prompts.ts';

it('has an example that validates without an error or a warning', () => {
  const start = DESIGN_WORKFLOW.indexOf('{"id":"my-flow"');
  const end = DESIGN_WORKFLOW.indexOf('\nSteps:');
  const blueprint: unknown = JSON.parse(DESIGN_WORKFLOW.slice(start, end));
  expect(validateBlueprint(blueprint).diagnostics).toEqual([]);
});

it('names every step type, parse mode and field of a step', () => {
  for (const word of [
    ...['call', 'loop', 'parallel', 'pipe', 'collect', 'when', 'failWhen', 'errorStrategy', 'timeoutSeconds'],
    ...[
      'over',
      'while',
      'max',
      'as',
      'do',
      'concurrency',
      'maxItems',
      'branches',
      'select',
      'workflow',
      'retryUnknown',
    ],
    ...PARSE_MODES,
    ...['params', 'steps', 'output'].filter((field) => Object.hasOwn(blueprintShape, field)),
  ]) {
    expect(DESIGN_WORKFLOW, word).toContain(word);
  }
});

it('costs few tokens', () => {
  expect(encode(DESIGN_WORKFLOW).length).toBeLessThan(800);
});
