/**
 * `node scripts/run.js scripts/servers-lock.ts`: writes infra/servers/package.json and its lock from mcp.json, for the packages of
 * the stdio servers that are shipped to AWS. npm resolves what these packages need; nothing is installed and no script runs.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAwsServers } from '../infra/servers/aws-servers.ts';
import { npmEnvironment } from '../infra/servers/install.ts';
import { packagesOf } from '../infra/servers/lock.ts';
import { projectRoot } from '../lib/cli/project.ts';

const root = projectRoot();
const file = join(root, 'mcp.json');
const folder = join(root, 'infra', 'servers');
// Whether the servers trust each other is decided when they are deployed.
const { servers, problems } = readAwsServers(readFileSync(file, 'utf8'), file, true);
if (problems.length > 0) {
  console.error([`${file}:`, ...problems].join('\n  '));
  process.exit(1);
}
const manifest = {
  name: 'mwe-servers',
  description: 'The stdio servers of mcp.json; written by scripts/servers-lock.ts',
  private: true,
  type: 'module',
  dependencies: packagesOf(servers),
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
execFileSync(
  process.platform === 'win32' ? 'npm.cmd' : 'npm',
  [
    'install',
    '--package-lock-only',
    '--ignore-scripts',
    '--omit-lockfile-registry-resolved',
    '--audit=false',
    '--fund=false',
  ],
  {
    cwd: folder,
    env: npmEnvironment(process.env),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  },
);
