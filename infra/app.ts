/** What `cdk` runs (cdk.json). A refused prop or blueprint is told in its own words, without a trace. */
import { projectRoot } from '../lib/cli/project.ts';
import { PropsError } from './read-props.ts';
import { synthesize } from './synth.ts';

try {
  await synthesize({ root: projectRoot() });
} catch (error) {
  if (!(error instanceof PropsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
