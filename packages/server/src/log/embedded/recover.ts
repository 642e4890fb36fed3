// Verifies every frame of every segment when the log opens. The last segment may end in a write that a crash tore:
// that tail was never acknowledged and is truncated. Any other damage concerns acknowledged entries, so opening is
// refused with its position.

import { join } from "node:path";
import { LogError } from "../contract/replicated-log.ts";
import { type Files, type OpenFile, readFully } from "./files.ts";
import { decodeHeader, FRAME_HEADER_BYTES, FRAME_MAGIC, frameMatches } from "./frame.ts";
import { readFrames } from "./frame-reader.ts";
import { noteFrame, openSegment, parseSegmentName, type Segment } from "./segment.ts";

interface Recovered {
  /** In order; empty for a new log. */
  readonly segments: Segment[];
  /** Term of the last entry, 0 when there is none. */
  readonly lastTerm: number;
}

export async function recoverSegments(
  files: Files,
  dir: string,
  onWarning: (text: string) => void,
): Promise<Recovered> {
  const firsts: number[] = [];
  for (const name of await files.list(dir)) {
    const first = parseSegmentName(name);
    if (first !== null) firsts.push(first);
    else if (name.endsWith(".seg.tmp")) await files.remove(join(dir, name));
  }
  firsts.sort((a, b) => a - b);

  const segments: Segment[] = [];
  let lastTerm = 0;
  for (const [n, first] of firsts.entries()) {
    const path = join(dir, `${String(first).padStart(16, "0")}.seg`);
    const before = segments.at(-1);
    if (before !== undefined && before.lastIndex + 1 !== first) {
      throw new LogError("corrupt", `${path}: begins at ${first}, but the segment before ends at ${before.lastIndex}`);
    }
    const segment = await openSegment(files, path, first);
    lastTerm = Math.max(lastTerm, await scan(files, segment, n === firsts.length - 1, onWarning));
    segments.push(segment);
  }
  return { segments, lastTerm };
}

async function scan(
  files: Files,
  segment: Segment,
  isLast: boolean,
  onWarning: (text: string) => void,
): Promise<number> {
  const file = await files.open(segment.path, isLast ? "change" : "read");
  try {
    const size = await file.size();
    const reader = readFrames(file, segment.salt, segment.end, size);
    let term = 0;
    for (;;) {
      const found = await reader.next();
      if (found === null) break;
      if (found.header.firstIndex !== segment.lastIndex + 1) throw damaged(segment, "holds the wrong entry");
      noteFrame(segment, found.header, FRAME_HEADER_BYTES + found.header.bodyBytes);
      term = found.header.term;
    }
    if (segment.end === size) return term;

    const rest = await readRest(file, segment.end, size);
    const blank = rest.every((byte) => byte === 0); // reserved, never written
    if (!isLast && !blank) throw damaged(segment, "does not match its checksum");
    if (holdsFrame(rest, segment)) throw damaged(segment, "does not match its checksum, and whole entries follow it");
    if (!blank)
      onWarning(`${segment.path}: truncated an incomplete write of ${rest.length} bytes at offset ${segment.end}`);
    if (isLast) {
      await file.truncate(segment.end);
      await file.datasync();
    }
    return term;
  } finally {
    await file.close();
  }
}

async function readRest(file: OpenFile, from: number, size: number): Promise<Buffer> {
  const rest = Buffer.alloc(size - from);
  return rest.subarray(0, await readFully(file, rest, from));
}

/** Each append is durable before the next starts: a later frame proves that this one was complete. */
function holdsFrame(rest: Buffer, segment: Segment): boolean {
  for (let at = rest.indexOf(FRAME_MAGIC, 1); at >= 0; at = rest.indexOf(FRAME_MAGIC, at + 1)) {
    const header = decodeHeader(rest, at);
    if (header === null || header.firstIndex <= segment.lastIndex) continue;
    const frame = rest.subarray(at, at + FRAME_HEADER_BYTES + header.bodyBytes);
    if (frameMatches(frame, header, segment.salt)) return true;
  }
  return false;
}

const damaged = (segment: Segment, how: string): LogError =>
  new LogError("corrupt", `${segment.path}: the record at offset ${segment.end} ${how}`);
