/**
 * Stacks as they are synthesized, one for each configuration and once a test file. The functions' code is a placeholder
 * here, there are no downstream servers and one small blueprint: what is tested is the template. synth.test.ts synthesizes with the real bundles.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PreparedAssets } from '../../infra/assets.ts';
import { synthesize } from '../../infra/synth.ts';
import type { JsonObject } from '../../lib/blueprint/json.ts';
import { projectRoot } from '../../lib/cli/project.ts';

export interface Resource {
  Type: string;
  Properties: JsonObject;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

export interface Template {
  Resources: Record<string, Resource>;
  Outputs: Record<string, { Value: unknown; Description: string }>;
}

const BLUEPRINT = {
  id: 'hello',
  steps: [{ id: 'say', type: 'call', tool: 'server/echo', params: { message: 'hi' }, parse: 'text' }],
  schedules: [{ name: 'nightly', schedule: 'cron(0 2 * * ? *)', timezone: 'Europe/Vienna' }],
};

async function placeholders(): Promise<PreparedAssets> {
  const folder = await mkdtemp(join(tmpdir(), 'mwe-infra-'));
  const assets = {
    'mcp-endpoint': join(folder, 'mcp-endpoint'),
    'call-tool': join(folder, 'call-tool'),
    'run-events': join(folder, 'run-events'),
  };
  for (const path of Object.values(assets)) {
    await mkdir(path);
    await writeFile(join(path, 'index.mjs'), 'export const handler = () => undefined;\n');
  }
  const blueprints = join(folder, 'blueprints');
  await mkdir(blueprints);
  await writeFile(join(blueprints, 'hello.json'), JSON.stringify(BLUEPRINT));
  const servers = { serversHash: 'placeholder', secrets: ['k8s-token', 'team/db'], warnings: [] };
  return { assets, servers, blueprints, remove: () => rm(folder, { recursive: true, force: true }) };
}

const known = new Map<string, Promise<Template>>();

/** The template for these props. */
export function templateOf(props: JsonObject = {}): Promise<Template> {
  const key = JSON.stringify(props);
  const template = known.get(key) ?? synthesizeTemplate(props);
  known.set(key, template);
  return template;
}

/** The same, made anew. */
export async function synthesizeTemplate(mwe: JsonObject): Promise<Template> {
  const outdir = await mkdtemp(join(tmpdir(), 'mwe-cdk-out-'));
  try {
    const app = { context: { mwe }, outdir };
    const assembly = await synthesize({ root: projectRoot(), app, prepare: placeholders });
    // That it throws for what cdk-nag finds is the CDK's doing; that nothing was found is looked at here.
    const report = JSON.parse(await readFile(join(outdir, 'validation-report.json'), 'utf8')) as JsonObject;
    if (JSON.stringify(report.pluginReports) !== '[]') throw new Error(JSON.stringify(report, undefined, 2));
    const template = assembly.stacks[0]?.template as Template;
    refuseCycles(template);
    return template;
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

/** CloudFormation deploys no resources that wait for each other, and the CDK does not look. */
function refuseCycles({ Resources }: Template): void {
  const done = new Set<string>();
  const visit = (id: string, waiting: readonly string[]): void => {
    const all = [...waiting, id];
    if (waiting.includes(id)) throw new Error(`these resources wait for each other: ${all.join(' → ')}`);
    if (done.has(id)) return;
    for (const next of referencesIn(Resources[id])) if (next in Resources) visit(next, all);
    done.add(id);
  };
  for (const id of Object.keys(Resources)) visit(id, []);
}

/** Logical ids that a definition waits for. */
function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) => {
    if (key === 'Ref') return [String(each)];
    if (key === 'Fn::GetAtt') return [String((each as unknown[])[0])];
    if (key === 'DependsOn') return [each].flat().map(String);
    return referencesIn(each);
  });
}

/** The one resource whose logical id begins so. */
export function resource(template: Template, type: string, begins: string): Resource {
  const found = Object.entries(template.Resources).filter(
    ([id, { Type }]) => Type === type && id.startsWith(begins),
  );
  const [first] = found;
  if (first === undefined || found.length > 1) {
    throw new Error(`${found.length} resources of ${type} begin with "${begins}"`);
  }
  return first[1];
}

/**
 * Intrinsic functions as texts, so that a statement can be read and compared whole; the hash at a logical id's end is left out.
 *
 *     { "Fn::GetAtt": ["Table4C2D914F", "Arn"] }  →  "<Table.Arn>"
 */
export function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, unknown>;
  if (typeof Ref === 'string') return `<${nameOf(Ref)}>`;
  if (Array.isArray(attribute)) return `<${nameOf(String(attribute[0]))}.${String(attribute[1])}>`;
  if (Array.isArray(join)) return (join[1] as unknown[]).map(readable).join(String(join[0]));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, readable(each)]));
}

function nameOf(logicalId: string): string {
  return logicalId.startsWith('AWS::')
    ? logicalId.slice('AWS::'.length)
    : logicalId.replace(/[0-9A-F]{8}$/, '');
}

/** The statements of a role's policies by their Sid. Throws where one has none, or two the same. */
export function statementsOf(template: Template, role: string): Record<string, unknown> {
  const policies = Object.values(template.Resources).filter(
    ({ Type, Properties }) =>
      Type === 'AWS::IAM::Policy' && (readable(Properties.Roles) as string[]).includes(`<${role}>`),
  );
  const byName: Record<string, unknown> = {};
  for (const { Properties } of policies) {
    const { Statement } = Properties.PolicyDocument as { Statement: JsonObject[] };
    for (const { Sid, ...rest } of Statement) {
      const name = String(Sid);
      if (name in byName) throw new Error(`two statements of ${role} are "${name}"`);
      byName[name] = readable(rest);
    }
  }
  return byName;
}
