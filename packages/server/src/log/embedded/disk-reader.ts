// Reads entries back from the segments, a bounded number of bytes at a time. Each reader of the
// log has one of these and with it at most one open file, which it keeps while it reads on in the same
// segment; a segment that is deleted meanwhile stays readable to the end.

import { LogError, type StoredEntry } from "../replicated-log.ts";
import { asLogError, errorCode, type Files, type OpenFile } from "./files.ts";
import { decodeEntries } from "./frame.ts";
import { type FrameReader, readFrames } from "./frame-reader.ts";
import { offsetBefore, type Segment } from "./segment.ts";

/** Handed out at once, so that a reader far behind takes little memory. */
const BATCH_BYTES = 1024 * 1024;

export interface DiskReader {
  /** Entries from this index on, at least one; it must be durable and in a segment. */
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

  /** Stands at or before the entry. What is durable now is the end; later entries need a new place. */
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
