// Entries that wait to be sent to the planner, in one buffer that can be moved to another thread.

interface EntryBatch {
  readonly bytes: Uint8Array;
  readonly lengths: readonly number[];
}

export function createEntryBatch() {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  return {
    get waitingBytes() {
      return waitingBytes;
    },
    add(bytes: Uint8Array): void {
      waiting.push(bytes);
      waitingBytes += bytes.byteLength;
    },
    /** Returns `null` when nothing waits. */
    take(): EntryBatch | null {
      if (waiting.length === 0) return null;
      const lengths = waiting.map(({ byteLength }) => byteLength);
      const bytes = new Uint8Array(waitingBytes);
      let at = 0;
      for (const entry of waiting) {
        bytes.set(entry, at);
        at += entry.byteLength;
      }
      waiting = [];
      waitingBytes = 0;
      return { bytes, lengths };
    },
  };
}
