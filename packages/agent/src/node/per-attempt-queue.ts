// Runs tasks in sequence per key, while keys do not wait for each other. A failed task does not stop the tasks after
// it.

export interface PerAttemptQueue {
  add(key: string, task: () => Promise<void>): void;
  /** Resolves when all that is queued now is done. */
  settled(): Promise<void>;
}

export function perAttemptQueue(failed: (key: string, error: Error) => void): PerAttemptQueue {
  const last = new Map<string, Promise<void>>();
  return {
    add(key, task) {
      const next = (last.get(key) ?? Promise.resolve())
        .then(task)
        .catch((error: Error) => failed(key, error))
        .finally(() => {
          if (last.get(key) === next) last.delete(key);
        });
      last.set(key, next);
    },
    async settled() {
      await Promise.all(last.values());
    },
  };
}
