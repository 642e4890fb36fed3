// Entries that wait to be sent to the planner, in one buffer that can be moved to another thread.

interface EntryBatch {
  readonly bytes: Uint8Array;
  readonly lengths: readonly number[];
}

export function createEntryBatch() {
  let waiting: Uint8Array[] = [];
  return {
    add: (bytes: Uint8Array): void => void waiting.push(bytes),
    /** Returns `null` when nothing waits. */
    take(): EntryBatch | null {
      if (waiting.length === 0) return null;
      const lengths = waiting.map(({ byteLength }) => byteLength);
      const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
      let at = 0;
      for (const entry of waiting) {
        bytes.set(entry, at);
        at += entry.byteLength;
      }
      waiting = [];
      return { bytes, lengths };
    },
  };
}
