// Appends records to the open segment and closes it at a size limit. A batch is one write and one fdatasync; when the
// caller fails to index it, it is truncated again.

import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { encodeClosing, encodeRecord } from "./line.ts";
import type { RecordRow } from "./messages.ts";
import { type ClosedSegment, hashOf, segmentPath } from "./segment-file.ts";

/** The open segment that recovery found. */
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

interface SegmentWriter {
  /** Durable when it returns. `keep` indexes the records; when it throws, the batch is removed. */
  append(rows: readonly RecordRow[], keep: (written: readonly Written[]) => void): void;
  /** Closes the open segment at its size limit; when `keep` throws, it stays open. */
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

  /** Bytes behind the valid end are removed before anything else is written. */
  let dirty = false;
  const cut = (): void => {
    if (!dirty) return;
    ftruncateSync(file(), bytes);
    dirty = false;
  };

  /** Writes behind the valid end; `keep` advances the end, or throws and the bytes are removed. */
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
        // Still dirty: the next write truncates first.
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
