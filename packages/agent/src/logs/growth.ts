// Waits until a file grows, by inotify where it works and by polling otherwise: network file systems send no events.

import { type FSWatcher, watch } from "node:fs";

interface Growth {
  /** Resolves at the first change since this was made, after that time, or when stopped. */
  next(timeoutMs: number): Promise<void>;
  close(): void;
}

/** Watches from now on, so that what is written while the file is read is not missed. */
export function growth(path: string, stop: AbortSignal): Growth {
  let changed = false;
  let wake = (): void => {
    changed = true;
  };
  let watcher: FSWatcher | null = null;
  try {
    watcher = watch(path, { persistent: false }, () => wake());
    watcher.on("error", () => undefined);
  } catch {
    // No watches available: polling serves.
  }
  return {
    next: (timeoutMs) =>
      new Promise((resolve) => {
        if (changed || stop.aborted) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          stop.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        stop.addEventListener("abort", done, { once: true });
        wake = done;
      }),
    close: () => watcher?.close(),
  };
}
