// Writes the trace while this server leads: the cluster as it stands when it begins to lead, then every submission
// and end. Appended in the background and never waited for: a slow or full disk costs lines, not scheduling. A line
// that a crash cut short is taken off before the file is appended to again.

import { closeSync, createWriteStream, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import type { Logger } from "pino";
import type { Replica } from "../replica/replica.ts";
import { createTraceLines } from "./lines.ts";

export interface CaptureOptions {
  readonly path: string;
  readonly replica: Replica;
  readonly leads: () => boolean;
  readonly logger: Logger;
  readonly count: (result: "written" | "dropped", lines: number) => void;
}

export interface Capture {
  close(): Promise<void>;
}

/** As much as rm-replay reads. */
const MAX_BYTES = 400_000_000;
/** Waiting to be written; beyond it lines are dropped. */
const MAX_WAITING_BYTES = 16_000_000;
/** A line is far shorter. */
const TAIL_BYTES = 1_048_576;

/** Throws when the file cannot be opened. */
export function startCapture({ path, replica, leads, logger, count }: CaptureOptions): Capture {
  let bytes = repaired(path);
  const out = createWriteStream(path, { flags: "a" });
  const lines = createTraceLines();
  let begun = false;
  let broken = false;
  out.on("error", (error) => {
    broken = true;
    logger.error({ err: error, path }, "the trace cannot be written; capturing ends");
  });
  const write = (texts: readonly string[]): void => {
    if (texts.length === 0) return;
    const text = texts.join("");
    if (broken || bytes + text.length > MAX_BYTES || out.writableLength > MAX_WAITING_BYTES) {
      if (!broken && bytes + text.length > MAX_BYTES) {
        broken = true;
        logger.warn({ path, bytes }, "the trace is as long as rm-replay can read; capturing ends");
      }
      count("dropped", texts.length);
      return;
    }
    bytes += Buffer.byteLength(text);
    out.write(text);
    count("written", texts.length);
  };
  const unsubscribe = replica.feed.onEvents((events) => {
    if (!leads()) {
      begun = false;
      return;
    }
    if (!begun) write(lines.header(replica.view));
    begun = true;
    write(lines.after(replica.view, events));
  });
  return {
    close() {
      unsubscribe();
      return new Promise((resolve) => {
        if (out.destroyed) return resolve();
        out.once("close", () => resolve());
        out.end();
      });
    },
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
