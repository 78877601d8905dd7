/**
 * The child processes of downstream servers, and their end.
 *
 * Every child leads a process group of its own (not on Windows, which has none), so that what it started itself, such as
 * the server behind an `npx`, ends with it. What always holds: a child that was started here does not outlive this
 * process, whether it exits, is interrupted (Ctrl-C), terminated or hung up; only a SIGKILL of ours cannot be acted on,
 * and then the closed stdin tells the child. Where the program has signal handlers of its own, they decide when to exit.
 */
import type { ChildProcess } from 'node:child_process';

const ownGroup = process.platform !== 'win32';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const living = new Set<ChildProcess>();

/** Spawn option for `watchChild` to be able to end the whole group. */
export const detachedGroup: boolean = ownGroup;

/** Remembers a child until it has exited. */
export function watchChild(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (living.size === 0) listen();
  living.add(child);
  child.once('exit', () => {
    // What the child started and left behind goes with it: its group lives as long as one of its members.
    signalGroup(child, 'SIGKILL');
    living.delete(child);
    if (living.size === 0) unlisten();
  });
}

/** Sends a signal to the child's group. False where nothing is there to receive it. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false;
  try {
    return ownGroup ? process.kill(-child.pid, signal) : child.kill(signal);
  } catch {
    return false;
  }
}

/** Process ids of the children that have not exited, for tests and for a server's status. */
export function livingChildren(): number[] {
  return [...living].flatMap((child) => (child.pid === undefined ? [] : [child.pid]));
}

function killAll(): void {
  for (const child of living) signalGroup(child, 'SIGKILL');
}

function onSignal(signal: NodeJS.Signals): void {
  // Another listener means that the program closes its servers in its own time; 'exit' is still behind it.
  if (process.listenerCount(signal) > 1) return;
  killAll();
  unlisten();
  process.kill(process.pid, signal);
}

function listen(): void {
  process.on('exit', killAll);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function unlisten(): void {
  process.off('exit', killAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}
