/**
 * `npm run rehearse`: synthesizes the stack in each of its ways to authenticate, deploys each template into the local stand-ins, plays
 * the scenarios, and tells what the roles may not do and do, and what they may do and never do.
 *
 * Progress goes to stderr, the table to stdout. Exit code 0: everything went as it should; 1: it did not; 2: wrong usage.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesize } from '../infra/synth.ts';
import { readArguments } from '../lib/cli/arguments.ts';
import { CliError, EXIT } from '../lib/cli/exit-codes.ts';
import { projectRoot } from '../lib/cli/project.ts';
import { stdio } from '../lib/cli/terminal.ts';
import { type Deployment, deploy, runtimePath } from './deploy.ts';
import { JUSTIFIED } from './justified.ts';
import { PLAYS, type Play } from './plays.ts';
import { type SharedAssets, shareAssets } from './shared-assets.ts';
import { createStage } from './stage.ts';
import { verdictTable } from './table.ts';
import { type Assembly, readAssembly } from './template/assembly.ts';
import { hasPassed, holdAgainst, judgeCalls, unusedRights } from './verdict.ts';

const HELP = `Deploys the synthesized stack into local stand-ins and proves its permissions.

Usage: npm run rehearse -- [--only PART]... [--verbose]

  --only PART   only plays or scenarios whose name contains this; what no scenario uses is not judged then
  --verbose     also what the functions write

Exit codes: 0 all went well, 1 something failed, 2 wrong usage.`;

const root = projectRoot();

async function main(argv: readonly string[]): Promise<number> {
  const { values } = readArguments(argv, {
    only: { type: 'string', multiple: true },
    verbose: { type: 'boolean' },
  });
  if (values.help === true) {
    stdio.out(HELP);
    return EXIT.ok;
  }
  const only = values.only ?? [];
  const log = (line: string): void => {
    // Metrics are many, and say nothing that a scenario does not.
    if (values.verbose === true && !line.includes('{"_aws":')) stdio.err(`    ${line}`);
  };
  const folder = await mkdtemp(join(tmpdir(), 'mwe-rehearsal-'));
  const assets = shareAssets();
  const played: Deployment[] = [];
  const failures: string[] = [];
  const clean = async (): Promise<PromiseSettledResult<void>[]> => {
    const closing = await Promise.allSettled(played.map((deployment) => deployment.close()));
    await assets.remove();
    await rm(folder, { recursive: true, force: true });
    return closing;
  };
  const interrupted = new AbortController();
  const stop = onSignal(() => {
    interrupted.abort();
    return clean();
  });
  const workshop: Workshop = { folder, assets, log, interrupted: interrupted.signal };
  try {
    for (const play of PLAYS) {
      const scenarios = play.scenarios.filter(({ name }) => wanted(only, play, name));
      if (scenarios.length === 0 || interrupted.signal.aborted) continue;
      failures.push(...(await perform({ ...play, scenarios }, workshop, played)));
    }
  } finally {
    stop();
    const closing = await clean();
    failures.push(...closing.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : [])));
  }
  const judged = played.map(judgeCalls);
  const rights = only.length === 0 ? holdAgainst(unusedRights(played), JUSTIFIED) : { unused: [], idle: [] };
  const verdict = {
    denied: [...new Set(judged.flatMap(({ denied }) => denied))],
    faults: [...failures, ...judged.flatMap(({ faults }) => faults)],
    rows: judged.flatMap(({ rows }) => rows),
    ...rights,
  };
  stdio.out(verdictTable(verdict, JUSTIFIED));
  return hasPassed(verdict) ? EXIT.ok : EXIT.failed;
}

function wanted(only: readonly string[], play: Play, scenario: string): boolean {
  return only.length === 0 || only.some((part) => `${play.name} ${scenario}`.includes(part));
}

/** What the plays of one rehearsal share. */
interface Workshop {
  folder: string;
  assets: SharedAssets;
  log(line: string): void;
  /** Aborted: nothing more is begun or told. */
  interrupted: AbortSignal;
}

/** Plays one play on a deployment of its own. @returns what went wrong */
async function perform(play: Play, workshop: Workshop, played: Deployment[]): Promise<string[]> {
  const folder = join(workshop.folder, play.name);
  try {
    const deployment = await raise(play, folder, workshop);
    played.push(deployment);
    const stage = createStage({
      deployment,
      admin: await play.admin(deployment),
      synthesizeWith: (blueprints) => {
        const other = join(folder, 'updated');
        return synthesizeInto(other, play, workshop.assets.withBlueprints(other, blueprints));
      },
    });
    const failures = await enact(play, stage, workshop.interrupted);
    await deployment.close();
    return failures;
  } catch (error) {
    if (workshop.interrupted.aborted) return [];
    // Without a deployment there is nothing to play, but the other plays have theirs.
    const why = error instanceof Error ? error.message : String(error);
    stdio.err(`${play.name}: FAILED: ${why}`);
    return [`${play.name}: ${why}`];
  } finally {
    await play.end?.();
  }
}

async function synthesizeInto(
  folder: string,
  play: Play,
  prepare: SharedAssets['prepare'],
): Promise<Assembly> {
  const outdir = join(folder, 'cdk.out');
  // The CLI asks for the paths too; by them the verdict tells whose a role is.
  const context = { mwe: play.props, 'aws:cdk:enable-path-metadata': true };
  await synthesize({ root, app: { outdir, context }, prepare });
  return readAssembly(outdir);
}

async function raise(play: Play, folder: string, { assets, log }: Workshop): Promise<Deployment> {
  const started = performance.now();
  const assembly = await synthesizeInto(folder, play, assets.prepare);
  const synthesized = performance.now();
  const environment = (await play.prepare?.()) ?? {};
  const deployment = await deploy({ assembly, folder, runtime: runtimePath(root), environment, log });
  const seconds = (from: number, to: number) => `${((to - from) / 1000).toFixed(1)} s`;
  const now = performance.now();
  stdio.err(
    `${play.name}: synthesized in ${seconds(started, synthesized)}, deployed in ${seconds(synthesized, now)}`,
  );
  return deployment;
}

/** Plays the scenarios one after the other; one that fails does not keep the rest from being played. */
async function enact(
  play: Play,
  stage: ReturnType<typeof createStage>,
  interrupted: AbortSignal,
): Promise<string[]> {
  const failures: string[] = [];
  for (const scenario of play.scenarios) {
    const name = `${play.name}: ${scenario.name}`;
    stage.deployment.recorder.scenario = name;
    const started = performance.now();
    try {
      await scenario.run(stage);
      stdio.err(`  ok      ${scenario.name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    } catch (error) {
      if (interrupted.aborted) break;
      const why = error instanceof Error ? error.message : String(error);
      stdio.err(`  FAILED  ${scenario.name}: ${why}`);
      failures.push(`${name}: ${why}`);
    } finally {
      await stage.close();
    }
  }
  return failures;
}

/** Leaves nothing behind on Ctrl-C. @returns what takes the handler away again. */
function onSignal(clean: () => Promise<unknown>): () => void {
  const handler = (): void => {
    // What is being made while it is taken down may fail; then there is a file less to remove.
    void clean()
      .catch(() => undefined)
      .then(() => process.exit(EXIT.interrupted));
  };
  process.once('SIGINT', handler);
  process.once('SIGTERM', handler);
  return () => {
    process.removeListener('SIGINT', handler);
    process.removeListener('SIGTERM', handler);
  };
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  stdio.err(`rehearse: ${error.message}`);
  process.exitCode = error.exitCode;
}
