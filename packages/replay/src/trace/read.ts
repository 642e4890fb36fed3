// Reads a trace file: the format by its name (.swf, .jsonl, .json; also .gz). A truncated compressed file is refused
// with the line at which it ends, not replayed in part.

import { readFileSync } from "node:fs";
import { constants, gunzipSync } from "node:zlib";
import { parseJsonLines } from "./json-lines.ts";
import { type Rows, traceOf } from "./rows.ts";
import { parseSwf } from "./swf.ts";
import type { Trace } from "./trace.ts";
import { TraceError } from "./trace-error.ts";

interface ReadOptions {
  /** `null`: as the trace states. */
  readonly nodes: number | null;
  /** Only the first jobs; `null` for all. */
  readonly jobs: number | null;
}

export function readTrace(file: string, { nodes, jobs }: ReadOptions): Trace {
  const parse = parserOf(file);
  const rows = parse(readBytes(file), jobs ?? Number.POSITIVE_INFINITY);
  const size = nodes ?? rows.nodes;
  if (size === null) throw new TraceError(null, "the trace does not state the machine's size: give it with --nodes");
  return traceOf(rows, size);
}

/** The largest known trace has 20 MB; one string holds at most 512 MB. */
const MAX_TRACE_BYTES = 400_000_000;

function parserOf(file: string): (bytes: Uint8Array, limit: number) => Rows {
  const plain = file.toLowerCase().replace(/\.gz$/, "");
  if (plain.endsWith(".swf")) return parseSwf;
  if (plain.endsWith(".jsonl") || plain.endsWith(".json")) return parseJsonLines;
  throw new TraceError(null, "the format is not known by its name: use .swf, .swf.gz, .jsonl or .jsonl.gz");
}

function readBytes(file: string): Uint8Array {
  const bytes = readFileSync(file);
  const plain = file.toLowerCase().endsWith(".gz") ? unzip(bytes) : bytes;
  if (plain.length > MAX_TRACE_BYTES) throw new TraceError(null, `is larger than ${MAX_TRACE_BYTES} bytes`);
  return new Uint8Array(plain.buffer, plain.byteOffset, plain.length);
}

function unzip(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_TRACE_BYTES });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ERR_BUFFER_TOO_LARGE") throw new TraceError(null, `is larger than ${MAX_TRACE_BYTES} bytes`);
    if (code !== "Z_BUF_ERROR") throw new TraceError(null, "is not gzip data, or it is damaged");
    throw new TraceError(linesIn(bytes), "the gzip data ends here: the file is truncated");
  }
}

/** Returns the line at which incomplete data stops. */
function linesIn(bytes: Buffer): number {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_TRACE_BYTES };
  return gunzipSync(bytes, options).toString("utf8").split("\n").length;
}
