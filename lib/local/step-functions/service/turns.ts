/**
 * Turns: changes of one thing (a machine, an execution) one after the other, so that reading, deciding and writing
 * are one step for whoever else asks at the same time. Different things do not wait for one another.
 */
export interface Turns {
  /** Runs `change` when all earlier changes of `key` are over, however they ended. */
  take<T>(key: string, change: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(key, change) {
      const before = last.get(key) ?? Promise.resolve();
      const turn = before.then(change, change);
      last.set(key, turn);
      try {
        return await turn;
      } finally {
        if (last.get(key) === turn) last.delete(key);
      }
    },
  };
}
