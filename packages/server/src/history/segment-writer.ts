// Adds records to the open segment and closes it when it is large enough. A batch is one write and
// one fdatasync; when the caller cannot keep it after all, it is cut off again.

import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { encodeClosing, encodeRecord } from "./line.ts";
import type { RecordRow } from "./messages.ts";
import { type ClosedSegment, hashOf, segmentPath } from "./segment-file.ts";

/** The open segment as recovery found it. */
export interface OpenSegment {
  readonly number: number;
  readonly bytes: number;
  readonly records: number;
}

export interface Written {
  readonly row: RecordRow;
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
}

export interface SegmentWriter {
  /** Durable when it returns. `keep` indexes them; when it throws, nothing of the batch stays. */
  append(rows: readonly RecordRow[], keep: (written: readonly Written[]) => void): void;
  /** Closes the open segment when it has grown enough; `keep` notes that, and when it throws it stays open. */
  rotate(keep: (closed: ClosedSegment) => void): void;
  current(): OpenSegment;
  close(): void;
}

export function openSegmentWriter(dir: string, segmentBytes: number, found: OpenSegment): SegmentWriter {
  let { number, bytes, records } = found;
  let fd: number | null = null;

  const file = (): number => {
    if (fd !== null) return fd;
    fd = openSync(segmentPath(dir, number), "a", 0o600);
    syncDir(dir);
    return fd;
  };

  /** Past the good end lies what could not be kept. Cut off before anything else is written. */
  let dirty = false;
  const cut = (): void => {
    if (!dirty) return;
    ftruncateSync(file(), bytes);
    dirty = false;
  };

  /** Writes behind the good end; `keep` moves the end, or throws and nothing of it stays. */
  const put = (text: Buffer, keep: () => void): void => {
    cut();
    dirty = true;
    try {
      for (let done = 0; done < text.length; ) done += writeSync(file(), text, done);
      fdatasyncSync(file());
      keep();
      dirty = false;
    } catch (cause) {
      try {
        cut();
      } catch {
        // Still dirty: the next write begins with it.
      }
      throw cause;
    }
  };

  return {
    current: () => ({ number, bytes, records }),
    append(rows, keep) {
      const texts = rows.map((row) => Buffer.from(encodeRecord(row.index, row.json)));
      let offset = bytes;
      const written = rows.map((row, n): Written => {
        const length = (texts[n]?.length ?? 1) - 1;
        const at = { row, segment: number, offset, bytes: length };
        offset += length + 1;
        return at;
      });
      put(Buffer.concat(texts), () => keep(written));
      bytes = offset;
      records += rows.length;
    },
    rotate(keep) {
      if (bytes < segmentBytes) return;
      const sha256 = hashOf(segmentPath(dir, number), bytes);
      const closing = Buffer.from(encodeClosing(records, sha256));
      put(closing, () => keep({ number, bytes: bytes + closing.length, records, sha256 }));
      if (fd !== null) closeSync(fd);
      fd = null;
      number += 1;
      bytes = 0;
      records = 0;
    },
    close() {
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}

function syncDir(dir: string): void {
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
