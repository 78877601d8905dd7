/** Compiling for tests: a document without a store, bound as saving would bind it. */
import { documentHash } from '../../lib/blueprint/canonical.ts';
import type { Blueprint, BlueprintDocument } from '../../lib/blueprint/types.ts';
import { type Compiled, type CompileTarget, compileDocument } from '../../lib/compile/compile.ts';
import { parseProgram } from '../../lib/compile/parse.ts';
import type { Plan } from '../../lib/compile/plan/plan.ts';
import { planMachine } from '../../lib/compile/plan/plan-machine.ts';

export const TARGET: CompileTarget = {
  callToolArn: 'arn:aws:lambda:us-east-1:000000000000:function:mwe-call-tool',
  functionTimeoutSeconds: 900,
};

/** A document whose named servers are bound and whose sub-workflows are pinned to revision 1. */
export function documentOf(blueprint: Blueprint): BlueprintDocument {
  const document: BlueprintDocument = { abi: 1, blueprint, tools: {}, workflows: {} };
  for (const [id, node] of parseProgram(blueprint).byId) {
    if (node.type !== 'call') continue;
    if (node.call === 'tool' && node.server !== undefined) {
      document.tools[id] = { server: node.server, tool: node.tool };
    }
    if (node.call === 'workflow' && !node.floating) {
      document.workflows[id] = { workflow: node.workflow, revision: 1, hash: '0'.repeat(64) };
    }
  }
  return document;
}

export function compileBlueprint(blueprint: Blueprint): Compiled {
  const document = documentOf(blueprint);
  return compileDocument(document, documentHash(document), TARGET);
}

export function planBlueprint(blueprint: Blueprint): Plan {
  const document = documentOf(blueprint);
  return planMachine(parseProgram(blueprint), document, documentHash(document), TARGET);
}
