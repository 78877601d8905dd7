/** `cdk synth` itself, by the CDK's own command: whole assets, the same each time, refused in its own words. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { projectRoot } from '../../lib/cli/project.ts';
import { readAssembly } from '../../rehearsal/template/assembly.ts';
import { resource, synthesizeTemplate, type Template } from './synthesized.ts';

const ROOT = projectRoot();
const CDK = join(ROOT, 'node_modules', 'aws-cdk', 'bin', 'cdk');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mwe-synth-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the CDK's own command without any AWS credentials or configuration. */
async function cdkSynth(out: string, ...args: string[]): Promise<string> {
  const output = join(folder, out);
  const env = { PATH: process.env.PATH ?? '', HOME: folder, CI: 'true' };
  await promisify(execFile)(
    process.execPath,
    [CDK, 'synth', '--quiet', '--no-notices', '--output', output, ...args],
    { cwd: ROOT, env },
  );
  return output;
}

describe('cdk synth', () => {
  it('needs no account, passes cdk-nag, and puts everything into the assets', async () => {
    const output = await cdkSynth('cdk.out');
    const template = JSON.parse(await readFile(join(output, 'mwe.template.json'), 'utf8')) as Template;
    const assembly = readAssembly(output);
    const asset = (id: string) => {
      const { Code } = resource(template, 'AWS::Lambda::Function', id).Properties;
      return assembly.assetOf(String((Code as JsonObject).S3Key)) ?? '';
    };
    expect(await readdir(asset('McpEndpoint'))).toContain('index.mjs');
    expect(await readdir(asset('CallTool'))).toEqual(
      expect.arrayContaining(['index.mjs', 'mcp.json', 'servers']),
    );
    expect(await readdir(asset('RunEvents'))).toEqual(expect.arrayContaining(['index.mjs', 'blueprints']));
    const { blueprints } = resource(template, 'Custom::StackBlueprints', 'Blueprints').Properties;
    const documents = (blueprints as JsonObject[]).map(({ hash }) => `${String(hash)}.json`);
    expect((await readdir(join(asset('RunEvents'), 'blueprints'))).sort()).toEqual(documents.sort());
  }, 300_000);

  it('refuses props in its own words', async () => {
    const refused = cdkSynth('bad', '-c', 'mwe={"prefx":"test"}');
    await expect(refused).rejects.toMatchObject({
      stderr: expect.stringContaining('prefx: there is no such prop. Did you mean "prefix"?'),
    });
    await expect(refused).rejects.not.toMatchObject({ stderr: expect.stringContaining('    at ') });
  });

  // That the same sources give the same bundles is for test/functions/bundles.test.ts.
  it('gives the same template for the same props', async () => {
    const props = { prefix: 'same', inspect: 'values' };
    expect(JSON.stringify(await synthesizeTemplate(props))).toBe(
      JSON.stringify(await synthesizeTemplate(props)),
    );
  });
});
