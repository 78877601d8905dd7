/** Values that no record holds: parameters, results and outputs over 8 KiB, an image, and a value that is gone when it is asked for. */
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { ask, check, runTo, type Scenario, save, textAt } from '../stage.ts';
import { putFile } from './asset.ts';
import { reading } from './blueprints.ts';
import { forgetValues } from './values.ts';

const LARGE: JsonObject = {
  id: 'large',
  params: { texts: { type: 'array', default: [] } },
  steps: [
    reading('bundle', 'index.mjs'),
    reading('again', 'index.mjs', { when: '{{ length(steps.bundle) > `0` }}' }),
  ],
  output: { bundle: '{{ steps.bundle }}', given: '{{ length(params.texts) }}' },
};

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const largeValues: Scenario = {
  name: 'large parameters, results and outputs go through the bucket',
  async run(stage) {
    const agent = await stage.agent(stage.admin);
    await save(agent, LARGE);
    const texts = Array.from({ length: 400 }, (_, index) => `text ${index} that is long enough to count`);
    const run = await runTo(agent, 'SUCCEEDED', 'large', { texts });
    const output = run.output as JsonObject;
    check(String(output.bundle).length > 8 * 1024 && output.given === 400, 'the output should be whole');
    const runId = textAt(run, 'runId');
    await ask(agent, 'get_run', { runId, step: 'bundle' });

    await putFile(stage, 'pixel.png', PNG);
    const image = {
      id: 'image',
      type: 'call',
      tool: 'filesystem/read_media_file',
      params: { path: 'pixel.png' },
    };
    await save(agent, { id: 'image', steps: [{ ...image, parse: 'raw' }] });
    const seen = JSON.stringify((await runTo(agent, 'SUCCEEDED', 'image')).output);
    check(seen.includes('"blob"') && !seen.includes('iVBORw'), 'an image should be a reference', seen);

    await forgetValues(stage, runId);
    const { answer } = await agent.call('get_run', { runId, step: 'bundle' });
    check(
      !JSON.stringify(answer).includes('AccessDenied'),
      'a value that is gone should be told as gone',
      answer,
    );
  },
};
