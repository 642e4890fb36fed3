// Wakes everything that waits for a change. A wait ends with its signal and leaves no listener behind.

export interface Notifier {
  /** Resolves at the next notification, or when aborted. */
  wait(signal: AbortSignal): Promise<void>;
  notify(): void;
}

export function createNotifier(): Notifier {
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
    notify() {
      const woken = waiting;
      waiting = new Set();
      for (const wake of woken) wake();
    },
  };
}
