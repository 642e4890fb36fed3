// Keeps the newest entries in memory, so that readers at the end of the log do not touch the disk. Bounded in bytes
// and number; slower readers use the segments.

import type { StoredEntry } from "../contract/replicated-log.ts";

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 16_384;
/** Dropped in steps, so that the array is not moved at every append. */
const SLACK_BYTES = 1024 * 1024;

interface Recent {
  add(entries: readonly StoredEntry[]): void;
  /** Returns the entries from this index on; `null` when it is no longer kept here. */
  from(index: number): readonly StoredEntry[] | null;
}

export function createRecent(): Recent {
  let kept: StoredEntry[] = [];
  let bytes = 0;

  const trim = (): void => {
    let drop = 0;
    while (drop < kept.length - 1 && (bytes > MAX_BYTES || kept.length - drop > MAX_ENTRIES / 2)) {
      bytes -= kept[drop]?.bytes.byteLength ?? 0;
      drop += 1;
    }
    kept = kept.slice(drop);
  };

  return {
    add(entries) {
      for (const entry of entries) {
        kept.push(entry);
        bytes += entry.bytes.byteLength;
      }
      if (bytes > MAX_BYTES + SLACK_BYTES || kept.length > MAX_ENTRIES) trim();
    },
    from(index) {
      const first = kept[0]?.index;
      if (first === undefined || index < first) return null;
      return kept.slice(index - first);
    },
  };
}
