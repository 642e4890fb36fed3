// Writes the trace while this server leads: the state of the cluster when it starts to lead, then every submission
// and end. Writes run in the background: a slow or full disk costs lines, not scheduling. A line torn by a crash is
// removed before the next append. A file at the size limit of rm-replay is followed by another (trace.jsonl,
// trace.2.jsonl, ...), which starts with the state of the cluster at that time.

import { closeSync, createWriteStream, existsSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import { parse } from "node:path";
import type { Logger } from "pino";
import type { Replica } from "../replica/replica.ts";
import { createTraceLines } from "./lines.ts";

export interface CaptureOptions {
  readonly path: string;
  readonly replica: Replica;
  readonly leads: () => boolean;
  readonly logger: Logger;
  /** Size limit of one file. Default: the limit of rm-replay. */
  readonly maxBytes?: number;
  /** Called instead of opening the next file. */
  readonly onFull?: () => void;
  readonly count: (result: "written" | "dropped", lines: number) => void;
}

export interface Capture {
  close(): Promise<void>;
}

/** The limit of rm-replay, less room for the lines of one entry. */
const MAX_BYTES = 350_000_000;
/** Bytes waiting for the disk; beyond it lines are dropped. */
const MAX_WAITING_BYTES = 16_000_000;
/** A line is far shorter. */
const TAIL_BYTES = 1_048_576;

/** Throws when the file cannot be opened. */
export function startCapture(options: CaptureOptions): Capture {
  const { replica, leads, logger, count, maxBytes = MAX_BYTES } = options;
  let number = newestOf(options.path);
  let file = openFile(nameOf(options.path, number), logger);
  const closing = new Set<Promise<void>>();
  const lines = createTraceLines();
  let hasStarted = false;
  const write = (texts: readonly string[]): void => {
    if (texts.length === 0) return;
    const taken = file.write(texts.join(""));
    count(taken ? "written" : "dropped", texts.length);
  };
  /** Opens the next file with the state of the cluster. When that fails, capturing ends. */
  const next = (): void => {
    closing.add(file.close());
    number += 1;
    const path = nameOf(options.path, number);
    try {
      file = openFile(path, logger);
    } catch (error) {
      file = NOWHERE;
      logger.error({ err: error, path }, "trace not written; capture stopped");
    }
    write(lines.header(replica.view));
  };
  const unsubscribe = replica.feed.onEvents((events) => {
    if (!leads()) {
      hasStarted = false;
      return;
    }
    if (!hasStarted) write(lines.header(replica.view));
    hasStarted = true;
    write(lines.after(replica.view, events));
    if (file.bytes() >= maxBytes) (options.onFull ?? next)();
  });
  return {
    async close() {
      unsubscribe();
      await Promise.all([...closing, file.close()]);
    },
  };
}

/** The first file keeps its name. */
function nameOf(path: string, number: number): string {
  const { dir, name, ext } = parse(path);
  return number === 1 ? path : `${dir}/${name}.${number}${ext}`;
}

/** Capturing continues where it stopped. */
function newestOf(path: string): number {
  let number = 1;
  while (existsSync(nameOf(path, number + 1))) number += 1;
  return number;
}

interface TraceFile {
  /** Returns false when the text was dropped. */
  write(text: string): boolean;
  bytes(): number;
  close(): Promise<void>;
}

const NOWHERE: TraceFile = { write: () => false, bytes: () => 0, close: async () => {} };

function openFile(path: string, logger: Logger): TraceFile {
  let bytes = repaired(path);
  let broken = false;
  const out = createWriteStream(path, { flags: "a" });
  out.on("error", (error) => {
    broken = true;
    logger.error({ err: error, path }, "trace not written; capture stopped");
  });
  return {
    write(text) {
      if (broken || out.writableLength > MAX_WAITING_BYTES) return false;
      bytes += Buffer.byteLength(text);
      out.write(text);
      return true;
    },
    bytes: () => bytes,
    close: () =>
      new Promise((resolve) => {
        if (out.destroyed) return resolve();
        out.once("close", () => resolve());
        out.end();
      }),
  };
}

/** Truncates the file after its last complete line; returns its length. */
function repaired(path: string): number {
  const file = openSync(path, "a+");
  try {
    const { size } = fstatSync(file);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, tail, 0, tail.length, size - tail.length);
    const whole = size - tail.length + tail.lastIndexOf(0x0a) + 1;
    if (whole < size) ftruncateSync(file, whole);
    return whole;
  } finally {
    closeSync(file);
  }
}
