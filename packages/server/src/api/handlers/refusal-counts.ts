// Counts repeated refusals: the first of a minute is written at once, and the others as one line with their number when
// the minute is over. A crash loses the number of the current minute at most, never the first refusal.

export interface RefusalCounts {
  /** `key` is the user and the subject; `write` writes one line about it. */
  refuse(key: string, what: string, write: (detail: string) => void): void;
}

interface Window {
  count: number;
  last: string;
}

const WINDOW_MS = 60_000;
/** Beyond this, subjects of which nothing was refused recently are refused without a record of their own. */
const MAX_WINDOWS = 10_000;

export function createRefusalCounts(windowMs = WINDOW_MS): RefusalCounts {
  const windows = new Map<string, Window>();
  return {
    refuse(key, what, write) {
      const open = windows.get(key);
      if (open !== undefined) {
        open.count += 1;
        open.last = what;
        return;
      }
      if (windows.size >= MAX_WINDOWS) return;
      const window: Window = { count: 0, last: what };
      windows.set(key, window);
      write(what);
      const timer = setTimeout(() => {
        windows.delete(key);
        if (window.count > 0) write(`${window.last}; ${window.count} more refusals within a minute`);
      }, windowMs);
      timer.unref();
    },
  };
}
