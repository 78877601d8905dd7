/** `cdk synth` itself, by the CDK's own command, with the functions' real bundles: the same twice, whole assets, and refused in its own words. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../lib/cli/project.ts';
import { readAssembly } from '../../rehearsal/template/assembly.ts';
import type { Template } from './synthesized.ts';

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
  it('needs no account, passes cdk-nag, and gives the same twice', async () => {
    const outputs = [await cdkSynth('one'), await cdkSynth('two')];
    const texts = await Promise.all(
      outputs.map((output) => readFile(join(output, 'mwe.template.json'), 'utf8')),
    );
    expect(texts[0]).toBe(texts[1]);
    const template = JSON.parse(texts[0] ?? '') as Template;
    const assembly = readAssembly(outputs[0] ?? '');
    for (const { Type, Properties } of Object.values(template.Resources)) {
      if (Type !== 'AWS::Lambda::Function') continue;
      const asset = assembly.assetOf(String((Properties.Code as { S3Key?: unknown }).S3Key));
      expect(await stat(join(asset ?? '', 'index.mjs'))).toMatchObject({ size: expect.any(Number) });
    }
  }, 400_000);

  it('refuses props in its own words', async () => {
    const refused = cdkSynth('bad', '-c', 'mwe={"prefx":"test"}');
    await expect(refused).rejects.toMatchObject({
      stderr: expect.stringContaining('prefx: there is no such prop. Did you mean "prefix"?'),
    });
    await expect(refused).rejects.not.toMatchObject({ stderr: expect.stringContaining('    at ') });
  });
});
