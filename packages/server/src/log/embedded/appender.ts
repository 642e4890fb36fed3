// Appends frames to the last segment: one write and one fdatasync per append, then the in-memory index advances. When
// a step fails, the file is truncated to its last good frame before anything else is written, so that a refused
// append is never read, not even after a crash. While truncation fails too, the frame's header is overwritten and
// every append tries again. A write beyond the preallocated end of the file also writes zeros behind it: later
// appends stay within the file's size, and their fdatasync need not write the inode.

import { LogError, type StoredEntry } from "../contract/replicated-log.ts";
import { asLogError, type Files, type OpenFile, writeFully } from "./files.ts";
import { bodyBytesOf, encodeFrame, FRAME_HEADER_BYTES, MAX_BODY_BYTES } from "./frame.ts";
import { createSegment, noteFrame, SEGMENT_HEADER_BYTES, type Segment } from "./segment.ts";

/** Zeros written ahead at a time: rare enough to be cheap, small enough for a small disk. */
const RESERVE_BYTES = 1024 * 1024;

interface AppenderOptions {
  readonly files: Files;
  readonly dir: string;
  readonly segmentBytes: number;
  /** In order; appends go to the last one, and new segments are added here. */
  readonly segments: Segment[];
  /** Index of the first entry of an empty log. */
  readonly firstIndex: number;
}

export interface Appender {
  /** Makes all entries durable, or none readable. Calls must not overlap. */
  append(entries: readonly StoredEntry[]): Promise<void>;
  /** Removes the remains of a failed append, if any. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

export async function openAppender({
  files,
  dir,
  segmentBytes,
  segments,
  firstIndex,
}: AppenderOptions): Promise<Appender> {
  let file: OpenFile;
  const last = segments.at(-1);
  let segment: Segment;
  if (last === undefined) {
    ({ segment, file } = await createSegment(files, dir, firstIndex));
    segments.push(segment);
  } else {
    segment = last;
    file = await files.open(segment.path, "change");
  }
  /** Recovery truncates the file after its last frame, so nothing is preallocated yet. */
  let reservedEnd = segment.end;
  let dirty = false;

  const repair = async (): Promise<void> => {
    if (!dirty) return;
    try {
      await file.truncate(segment.end);
    } catch (cause) {
      await file.write(new Uint8Array(FRAME_HEADER_BYTES), segment.end).catch(() => 0);
      throw asLogError(cause, `cutting ${segment.path} back to offset ${segment.end}`);
    }
    reservedEnd = segment.end;
    await file.datasync();
    dirty = false;
  };

  const rotate = async (): Promise<void> => {
    const next = await createSegment(files, dir, segment.lastIndex + 1);
    const before = { file, end: segment.end };
    segments.push(next.segment);
    segment = next.segment;
    file = next.file;
    reservedEnd = segment.end;
    // Only releases preallocated space; recovery ignores zeros there.
    await before.file.truncate(before.end).catch(() => undefined);
    await before.file.close().catch(() => undefined);
  };

  const write = async (frameBytes: number, padded: Buffer): Promise<void> => {
    const frame = padded.subarray(0, frameBytes);
    if (padded.length === frameBytes) return writeFully(file, frame, segment.end);
    const wrote = await file.write(padded, segment.end);
    if (wrote < frameBytes) return writeFully(file, frame.subarray(wrote), segment.end + wrote);
    reservedEnd = segment.end + wrote; // perhaps less than requested: there is no more space to reserve
  };

  return {
    repair,
    async append(entries) {
      const first = entries[0];
      if (first === undefined) return;
      const body = bodyBytesOf(entries);
      if (body > MAX_BODY_BYTES) throw new LogError("too_large", `a batch of ${body} bytes, at most ${MAX_BODY_BYTES}`);
      const frameBytes = FRAME_HEADER_BYTES + body;
      try {
        await repair();
        if (segment.end > SEGMENT_HEADER_BYTES && segment.end + frameBytes > segmentBytes) await rotate();
        const passes = segment.end + frameBytes > reservedEnd;
        const padded = passes ? Buffer.alloc(frameBytes + reserveFor(segmentBytes)) : Buffer.allocUnsafe(frameBytes);
        encodeFrame(padded, entries, segment.salt);
        dirty = true;
        await write(frameBytes, padded);
        await file.datasync();
        dirty = false;
      } catch (cause) {
        await repair().catch(() => undefined); // still dirty: the next append begins with it
        throw asLogError(cause, `appending entry ${first.index}`);
      }
      noteFrame(segment, { firstIndex: first.index, count: entries.length }, frameBytes);
    },
    async close() {
      await repair().catch(() => undefined);
      if (!dirty) await file.truncate(segment.end).catch(() => undefined);
      await file.close();
    },
  };
}

const reserveFor = (segmentBytes: number): number => Math.min(RESERVE_BYTES, segmentBytes);
