/**
 * Context → cloud assembly. `cdk` runs it by infra/app.ts; the tests and the rehearsal run it as well, so that what they see is
 * what is deployed. It asks AWS nothing: the stack is for whatever account and region the CLI deploys to.
 */
import { createRequire } from 'node:module';
import { Annotations, App, type AppProps, Validations } from 'aws-cdk-lib';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { prepareAssets } from './assets.ts';
import { EngineStack } from './engine-stack.ts';
import { CONTEXT_KEY, readProps } from './read-props.ts';

/**
 * The CDK's feature flags, as its version recommends them, whatever the user's cdk.json says: the constructs here rely on them.
 * Policies stay as they are written, statement by statement.
 */
const FLAGS = {
  ...(createRequire(import.meta.url)('aws-cdk-lib/recommended-feature-flags.json') as Record<
    string,
    unknown
  >),
  '@aws-cdk/aws-iam:minimizePolicies': false,
};

export interface SynthOptions {
  /** Folder of the project. */
  root: string;
  /** Context and output of the app; absent: what the CLI tells by the environment. */
  app?: Pick<AppProps, 'context' | 'outdir'>;
  /** Default: the functions' bundles and the downstream servers. */
  prepare?: typeof prepareAssets;
}

/** @throws SynthFault where props, mcp.json or a blueprint are refused */
export async function synthesize({
  root,
  app: appProps = {},
  prepare = prepareAssets,
}: SynthOptions): Promise<CloudAssembly> {
  const app = new App({ ...appProps, postCliContext: FLAGS, analyticsReporting: false });
  const props = readProps(app.node.tryGetContext(CONTEXT_KEY));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const { assets, servers, blueprints, remove } = await prepare(root, props);
  try {
    const stack = new EngineStack(app, props.prefix, { props, assets, servers, blueprints });
    for (const warning of servers.warnings) Annotations.of(stack).addWarningV2('mwe:servers', warning);
    return app.synth();
  } finally {
    await remove();
  }
}
