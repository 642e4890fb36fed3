// Writes the trace while this server leads: the cluster as it stands when it begins to lead, then every submission
// and end. Appended in the background and never waited for: a slow or full disk costs lines, not scheduling. A line
// that a crash cut short is taken off before the file is appended to again. A file that is as long as rm-replay reads
// is followed by another (trace.jsonl, trace.2.jsonl, ...), which begins with the cluster as it stands then.

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
  /** Of one file; absent: as much as rm-replay reads. */
  readonly maxBytes?: number;
  /** Called instead of going on with a file of the next number. */
  readonly onFull?: () => void;
  readonly count: (result: "written" | "dropped", lines: number) => void;
}

export interface Capture {
  close(): Promise<void>;
}

/** What rm-replay reads, less room for the lines of one entry. */
const MAX_BYTES = 350_000_000;
/** Waiting to be written; beyond it lines are dropped. */
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
  let begun = false;
  const write = (texts: readonly string[]): void => {
    if (texts.length === 0) return;
    const taken = file.write(texts.join(""));
    count(taken ? "written" : "dropped", texts.length);
  };
  /** The next file, with everything that a reader has to know. Where it cannot be opened, capturing ends. */
  const next = (): void => {
    closing.add(file.close());
    number += 1;
    const path = nameOf(options.path, number);
    try {
      file = openFile(path, logger);
    } catch (error) {
      file = NOWHERE;
      logger.error({ err: error, path }, "the trace cannot be written; capturing ends");
    }
    write(lines.header(replica.view));
  };
  const unsubscribe = replica.feed.onEvents((events) => {
    if (!leads()) {
      begun = false;
      return;
    }
    if (!begun) write(lines.header(replica.view));
    begun = true;
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

/** The first keeps the name it was given. */
function nameOf(path: string, number: number): string {
  const { dir, name, ext } = parse(path);
  return number === 1 ? path : `${dir}/${name}.${number}${ext}`;
}

/** Capturing goes on where it left off. */
function newestOf(path: string): number {
  let number = 1;
  while (existsSync(nameOf(path, number + 1))) number += 1;
  return number;
}

interface TraceFile {
  /** False where the text was dropped. */
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
    logger.error({ err: error, path }, "the trace cannot be written; capturing ends");
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

/** Takes off what follows the last whole line; answers the length. */
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
