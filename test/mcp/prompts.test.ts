/** What the prompt teaches must itself be right. */
import { encode } from 'gpt-tokenizer';
import { expect, it } from 'vitest';
import { blueprintShape } from '../../lib/blueprint/schema.ts';
import { PARSE_MODES } from '../../lib/blueprint/types.ts';
import { validateBlueprint } from '../../lib/compile/validate.ts';
import { DESIGN_WORKFLOW, designWorkflow } from '../../lib/mcp/prompts.ts';

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

it.each(['read-only', 'off'] as const)('says what can be tried where call_tool is %s', (mode) => {
  const prompt = designWorkflow(mode);
  expect(prompt).toContain(mode === 'off' ? 'cannot be tried here' : 'each read-only tool');
  expect(prompt.includes('call_tool')).toBe(mode !== 'off');
  // Everything else is the same.
  const rest = (text: string) => text.slice(text.indexOf('2 PLAN'));
  expect(rest(prompt)).toBe(rest(DESIGN_WORKFLOW));
});

it('costs few tokens', () => {
  expect(encode(DESIGN_WORKFLOW).length).toBeLessThan(800);
});
