/** What holds for the machine of every valid blueprint. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Blueprint } from '../../lib/blueprint/types.ts';
import { evaluateFormula } from '../../lib/compile/formula.ts';
import { parseProgram } from '../../lib/compile/parse.ts';
import { planFailures } from '../../lib/compile/plan/failures.ts';
import { validateBlueprint } from '../../lib/compile/validate.ts';
import { failureEndsRun } from '../../lib/steps/failure.ts';
import { indexProgram } from '../../lib/steps/program-index.ts';
import { execute } from '../local/step-functions/interpreter/execute.ts';
import { CHILD_ARN, scriptedCallTool } from './answer-tasks.ts';
import { arbitraryBlueprint } from './arbitrary-blueprint.ts';
import { compileBlueprint } from './compile-blueprint.ts';
import { machineFaults } from './machine-faults.ts';

const blueprints = arbitraryBlueprint({ workflows: ['child', 'child@latest'] });

function property(check: (blueprint: Blueprint) => void, numRuns = 200): void {
  fc.assert(fc.property(blueprints, check), { numRuns });
}

describe('the machine of any valid blueprint', () => {
  it('is of a blueprint that validation accepts', () => {
    property((blueprint) => {
      const { diagnostics } = validateBlueprint(blueprint);
      expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    });
  });

  it('passes every guard', () => {
    property((blueprint) => {
      expect(machineFaults(compileBlueprint(blueprint).definition)).toEqual([]);
    });
  });

  it('is the same each time, and its blueprint is unchanged', () => {
    property((blueprint) => {
      const before = structuredClone(blueprint);
      const first = compileBlueprint(blueprint).text;
      expect(compileBlueprint(structuredClone(blueprint)).text).toBe(first);
      expect(blueprint).toEqual(before);
    });
  });

  it('leaves exactly those failures uncaught that call-tool takes for the end of the run', () => {
    property((blueprint) => {
      const program = parseProgram(blueprint);
      const index = indexProgram(program);
      for (const [id, target] of planFailures(program)) {
        const node = program.byId.get(id);
        if (node !== undefined)
          expect([id, target.to === 'end-run']).toEqual([id, failureEndsRun(index, node)]);
      }
    });
  });
});

describe('the machine of any valid blueprint, run by the interpreter', () => {
  it('reaches its end, with as many events, transitions and invocations as the estimate says', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryBlueprint({ workflows: ['child'], maxDepth: 2, maxSteps: 4 }),
        fc.integer({ min: 0, max: 3 }),
        async (blueprint, passes) => {
          const program = parseProgram(blueprint);
          const { definition, estimate } = compileBlueprint(blueprint);
          const sizes = Object.fromEntries(
            [...program.byId.values()]
              .filter((node) => node.type === 'loop' && node.kind === 'while')
              .map(({ id }) => [id, passes]),
          );
          const { handler, told } = scriptedCallTool({ program, sizes });
          const all: string[] = [];
          const child = {
            QueryLanguage: 'JSONata' as const,
            StartAt: 'a',
            States: { a: { Type: 'Succeed' as const } },
          };
          const run = await execute(definition, {
            functions: { 'mwe-call-tool': handler },
            machines: { [CHILD_ARN]: child },
            onEvent: ({ type }) => all.push(type),
          });
          expect(run.outcome).toMatchObject({ status: 'SUCCEEDED', output: { run: 'run-1' } });
          expect(told.length).toBe(evaluateFormula(estimate.invocations, sizes));
          expect(run.events.length).toBe(evaluateFormula(estimate.events, sizes));
          const subRuns = evaluateFormula(estimate.subRuns, sizes);
          expect(all.filter((type) => type.endsWith('StateEntered')).length).toBe(
            evaluateFormula(estimate.transitions, sizes) + subRuns,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('ends as the strategies say where steps fail', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryBlueprint({ maxDepth: 2, maxSteps: 4 }),
        fc.nat({ max: 1000 }),
        async (blueprint, seed) => {
          const program = parseProgram(blueprint);
          const index = indexProgram(program);
          const { definition } = compileBlueprint(blueprint);
          let ended = false;
          const { handler } = scriptedCallTool({
            program,
            sizes: Object.fromEntries([...program.byId.keys()].map((id) => [id, 2])),
            answer: (task, occurrence) => {
              expect(ended).toBe(false);
              const node = program.byId.get(task.step);
              if (task.op === 'lane' || node === undefined || hash(occurrence, seed) % 4 !== 0)
                return undefined;
              ended = failureEndsRun(index, node);
              return 'ToolError';
            },
          });
          const run = await execute(definition, { functions: { 'mwe-call-tool': handler } });
          expect(run.outcome.status).toBe(ended ? 'FAILED' : 'SUCCEEDED');
        },
      ),
      { numRuns: 100 },
    );
  });
});

function hash(text: string, seed: number): number {
  return [...text].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 99_991, seed + 7);
}
