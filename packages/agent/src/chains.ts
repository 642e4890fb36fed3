// Work that is done one after the other for each key, while keys do not wait for each other. A
// task that fails ends only itself: what comes after it for the same key is still done.

export interface Chains {
  add(key: string, task: () => Promise<void>): void;
  /** Resolves when all that is queued now is done. */
  settled(): Promise<void>;
}

export function chains(failed: (key: string, error: Error) => void): Chains {
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
