// Reads entries from the segments, a bounded number of bytes at a time. Each reader of the log has its own disk
// reader with at most one open file, which it keeps while it stays in the segment; a deleted segment stays readable
// until then.

import { LogError, type StoredEntry } from "../contract/replicated-log.ts";
import { asLogError, errorCode, type Files, type OpenFile } from "./files.ts";
import { decodeEntries } from "./frame.ts";
import { type FrameReader, readFrames } from "./frame-reader.ts";
import { offsetBefore, type Segment } from "./segment.ts";

/** Bytes per batch, so that a reader far behind takes little memory. */
const BATCH_BYTES = 1024 * 1024;

interface DiskReader {
  /** Returns at least one entry, from this index on; it must be durable and in a segment. */
  fetch(index: number): Promise<readonly StoredEntry[]>;
  close(): Promise<void>;
}

interface Place {
  readonly segment: Segment;
  readonly file: OpenFile;
  readonly frames: FrameReader;
  readonly end: number;
}

export function createDiskReader(files: Files, segmentOf: (index: number) => Segment | null): DiskReader {
  let place: Place | null = null;
  let nextIndex = 0;

  const leave = async (): Promise<void> => {
    const file = place?.file;
    place = null;
    await file?.close();
  };

  /** Positioned at or before the entry. Reads up to the current durable end; later entries need a new position. */
  const goTo = async (index: number): Promise<Place> => {
    if (place !== null && nextIndex === index && place.frames.offset() < place.end) return place;
    await leave();
    const segment = segmentOf(index);
    if (segment === null) throw new LogError("truncated", `entry ${index} is gone`);
    const end = segment.end;
    const file = await files.open(segment.path, "read").catch((cause: unknown) => {
      if (errorCode(cause) === "ENOENT") throw new LogError("truncated", `entry ${index} is gone`, { cause });
      throw asLogError(cause, `reading ${segment.path}`);
    });
    place = { segment, file, end, frames: readFrames(file, segment.salt, offsetBefore(segment, index), end) };
    return place;
  };

  return {
    async fetch(index) {
      const { segment, frames, end } = await goTo(index);
      const batch: StoredEntry[] = [];
      let bytes = 0;
      while (bytes < BATCH_BYTES && frames.offset() < end) {
        const found = await frames.next();
        if (found === null) {
          throw new LogError(
            "corrupt",
            `${segment.path}: the record at offset ${frames.offset()} does not match its checksum`,
          );
        }
        const { header } = found;
        if (header.firstIndex + header.count <= index) continue;
        for (const entry of decodeEntries(found.frame, header)) {
          if (entry.index < index) continue;
          batch.push(entry);
          bytes += entry.bytes.byteLength;
        }
      }
      nextIndex = index + batch.length;
      return batch;
    },
    close: leave,
  };
}
