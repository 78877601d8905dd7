/** Progress of a run: one line redrawn on a terminal, a line a change elsewhere. */
import { type Output, plain } from './terminal.ts';

export interface ProgressDisplay {
  /** `done` may have a fraction: the step that is under way. */
  update(done: number, total: number, message: string): void;
  end(): void;
}

const WIDTH = 24;

export function createProgress(output: Output): ProgressDisplay {
  let last = '';
  return {
    update(done, total, message) {
      const line = `${Math.floor(done)}/${total} ${message}`;
      if (line === last) return;
      last = line;
      if (!output.interactive) {
        output.err(line);
        return;
      }
      const filled = total === 0 ? WIDTH : Math.round((done / total) * WIDTH);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
      // A line that wraps could not be drawn over.
      const room = (process.stderr.columns ?? 80) - WIDTH - 2;
      process.stderr.write(`\r\u001b[K${bar} ${plain(line).slice(0, Math.max(0, room))}`);
    },
    end() {
      if (output.interactive && last !== '') process.stderr.write('\r\u001b[K');
    },
  };
}
