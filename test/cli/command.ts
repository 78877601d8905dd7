/** The `mwe` command as a process: what a person types. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { projectRoot } from '../../lib/cli/project.ts';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Command {
  child: ChildProcessWithoutNullStreams;
  /** Resolves when stdout or stderr has the text. */
  said(text: string): Promise<string>;
  ended: Promise<Ended>;
}

/** Starts `mwe ARGS` in the project's folder, with these variables beside our own. */
export function mwe(args: readonly string[], env: Record<string, string> = {}): Command {
  const child = spawn(process.execPath, [join(projectRoot(), 'bin', 'mwe.js'), ...args], {
    cwd: projectRoot(),
    env: { ...process.env, ...env },
  });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    for (const check of waiting) check();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    for (const check of waiting) check();
  });
  const ended = once(child, 'close').then(([code]) => {
    for (const check of waiting) check();
    return { code: code as number | null, stdout, stderr };
  });
  return {
    child,
    ended,
    said: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (!(stdout + stderr).includes(text)) {
            if (child.exitCode === null) return;
            waiting.delete(check);
            reject(new Error(`mwe ended without saying "${text}":\n${stdout}${stderr}`));
            return;
          }
          waiting.delete(check);
          resolve(stdout);
        };
        waiting.add(check);
        void ended.then(check);
        check();
      }),
  };
}
