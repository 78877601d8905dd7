/** How many calls a server has in flight at once: a counting semaphore, first come first served. */

export interface Gate {
  /** Undefined: entered at once. Else a promise; it rejects with the signal's reason if that comes first. */
  enter(signal?: AbortSignal): Promise<void> | undefined;
  /** Exactly once for each entry. */
  leave(): void;
  /** Inside now. */
  readonly inside: number;
}

interface Waiting {
  admit(): void;
}

export function createGate(limit: number): Gate {
  let inside = 0;
  const waiting = new Set<Waiting>();
  return {
    get inside() {
      return inside;
    },
    enter(signal) {
      if (inside < limit) {
        inside++;
        return undefined;
      }
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const place: Waiting = {
          admit() {
            signal?.removeEventListener('abort', giveUp);
            resolve();
          },
        };
        const giveUp = () => {
          waiting.delete(place);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', giveUp, { once: true });
        waiting.add(place);
      });
    },
    leave() {
      const [next] = waiting;
      if (next === undefined) {
        inside--;
        return;
      }
      waiting.delete(next);
      next.admit();
    },
  };
}
