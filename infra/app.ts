/** What `cdk` runs (cdk.json). What a user has to mend is told in its own words, without a trace. */
import { projectRoot } from '../lib/cli/project.ts';
import { synthesize } from './synth.ts';
import { SynthFault } from './synth-fault.ts';

try {
  await synthesize({ root: projectRoot() });
} catch (error) {
  if (!(error instanceof SynthFault)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
