// Wakes whoever waits for something to change. A wait never outlives its signal, and leaves
// nothing behind when it ends.

export interface Bell {
  /** Resolves at the next ring, or when aborted. */
  wait(signal: AbortSignal): Promise<void>;
  ring(): void;
}

export function createBell(): Bell {
  let waiting = new Set<() => void>();
  return {
    wait(signal) {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener("abort", wake);
      });
    },
    ring() {
      const woken = waiting;
      waiting = new Set();
      for (const wake of woken) wake();
    },
  };
}
