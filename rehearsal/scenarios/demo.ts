/**
 * The demo's two workflows, on what a function has: the code-to-graph blueprint over call-tool's own asset, and the triage that the
 * stack owns.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import { check, refused, runTo, type Scenario, save } from '../stage.ts';

export const demo: Scenario = {
  name: 'the demo: code to graph, and triage',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    const text = await readFile(join(projectRoot(), 'blueprints', 'repo-to-graph.json'), 'utf8');
    await save(agent, { ...(JSON.parse(text) as JsonObject), id: 'my-repo-to-graph' });
    const graph = await runTo(agent, 'SUCCEEDED', 'my-repo-to-graph', { root: '.', pattern: '*.json' });
    const output = graph.output as JsonObject;
    check(
      Number(output.folders) > 0 && Number(output.newEntities) > 0,
      'the graph should have entities',
      output,
    );

    const triage = await runTo(agent, 'SUCCEEDED', 'triage', { path: 'index.mjs' });
    const found = triage.output as JsonObject;
    check(found.kind === 'file' && found.escalated === true, 'the triage should have escalated', found);

    const own = JSON.parse(
      await readFile(join(projectRoot(), 'blueprints', 'triage.json'), 'utf8'),
    ) as JsonObject;
    const answer = await refused(agent, 'create_workflow', { blueprint: { ...own, version: '9.0.0' } });
    check(
      JSON.stringify(answer).includes('blueprints/triage.json'),
      'the refusal should say where to change it',
      answer,
    );
  },
};
