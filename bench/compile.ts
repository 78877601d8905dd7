/** (a) Compiling 67 and 1,000 steps, validation not included. */
import { documentHash } from '../lib/blueprint/canonical.ts';
import type { Blueprint, BlueprintDocument, Step } from '../lib/blueprint/types.ts';
import { compileDocument } from '../lib/compile/compile.ts';
import { validateBlueprint } from '../lib/compile/validate.ts';
import { type Figure, median, rounded, timed } from './measure.ts';

const TARGET = {
  callToolArn: 'arn:aws:lambda:us-east-1:000000000000:function:mwe-call-tool',
  functionTimeoutSeconds: 900,
};

/** A blueprint as agents write them: calls, and every third step a loop over the one before. */
function blueprintOf(steps: number): Blueprint {
  const list: Step[] = [];
  for (let n = 0; n < steps; n++) {
    const id = `s${n}`;
    if (n % 3 !== 2) {
      list.push({
        id,
        type: 'call',
        tool: 'k8s/list',
        params: { kind: `kind-${n}`, ns: '{{ params.ns }}' },
        parse: 'json',
      });
    } else {
      const item = {
        id: `${id}-item`,
        type: 'call' as const,
        tool: 'graph/merge',
        params: { row: '{{ row }}' },
        parse: 'json' as const,
      };
      list.push({
        id,
        type: 'loop',
        over: `{{ steps.s${n - 1}.items[?ns == $.params.ns] }}`,
        as: 'row',
        do: item,
      });
    }
  }
  return { id: 'bench', params: { ns: { type: 'string', default: 'prod' } }, steps: list };
}

export async function benchCompile(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const steps of [67, 1000]) {
    const blueprint = blueprintOf(steps);
    const document: BlueprintDocument = { abi: 1, blueprint, tools: {}, workflows: {} };
    const hash = documentHash(document);
    const compile = async () => timed(() => compileDocument(document, hash, TARGET));
    const validate = async () => timed(() => validateBlueprint(blueprint));
    const compiles: number[] = [];
    const validations: number[] = [];
    for (let round = 0; round < 15; round++) {
      compiles.push(await compile());
      validations.push(await validate());
    }
    // The first five warm the machine up.
    figures.push(
      {
        name: `compile ${steps} steps`,
        value: rounded(median(compiles.slice(5))),
        unit: 'ms',
        ...(steps === 1000 ? { aim: '50' } : {}),
      },
      { name: `validate ${steps} steps`, value: rounded(median(validations.slice(5))), unit: 'ms' },
    );
  }
  return figures;
}
