// Records how long each log was at which time, so that output can be requested by time. One line per second with
// output, next to the logs; after many lines the interval grows.

import { statSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const FILE = "times";
const LOOK_EVERY_MS = 1_000;
/** Lines after which the interval is doubled: a day of output in every second. */
const LINES_PER_DOUBLING = 86_400;

interface OutputTimesHost {
  /** Attempts that may still write. */
  readonly live: () => Iterable<string>;
  readonly logFile: (key: string, stream: "stdout" | "stderr") => Promise<string | null>;
  readonly now: () => number;
}

export interface OutputTimes {
  /** A last look at an attempt that has ended. */
  ended(key: string): void;
  close(): void;
}

interface Known {
  stdout: number;
  stderr: number;
  lines: number;
  atMs: number;
}

export function recordOutputTimes(host: OutputTimesHost): OutputTimes {
  const known = new Map<string, Known>();
  let looking = false;

  async function look(key: string): Promise<void> {
    const path = await host.logFile(key, "stdout");
    if (path === null) return;
    const stdout = sizeOf(path);
    const stderr = sizeOf(join(dirname(path), "stderr"));
    const before = known.get(key) ?? { stdout: 0, stderr: 0, lines: 0, atMs: 0 };
    if (stdout === before.stdout && stderr === before.stderr) return;
    const nowMs = host.now();
    const pause = LOOK_EVERY_MS * 2 ** Math.floor(before.lines / LINES_PER_DOUBLING) - LOOK_EVERY_MS;
    if (nowMs - before.atMs < pause) return;
    known.set(key, { stdout, stderr, lines: before.lines + 1, atMs: nowMs });
    await appendFile(join(dirname(path), FILE), `${nowMs} ${stdout} ${stderr}\n`, { mode: 0o600 });
  }

  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    const all = [...host.live()].map((key) => look(key).catch(() => undefined));
    void Promise.all(all).finally(() => {
      looking = false;
    });
  }, LOOK_EVERY_MS);
  timer.unref();

  return {
    ended(key) {
      // Without times a log is shown whole: a full disk loses nothing but them.
      void look(key)
        .catch(() => undefined)
        .finally(() => known.delete(key));
    },
    close: () => clearInterval(timer),
  };
}

export interface TimeRange {
  /** 0: no bound. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Returns the offsets of output in that time; the end is null without an end. */
export async function offsetsFor(
  logPath: string,
  { sinceMs, untilMs }: TimeRange,
): Promise<{ readonly start: number; readonly end: number | null }> {
  if (sinceMs === 0 && untilMs === 0) return { start: 0, end: null };
  const text = await readFile(join(dirname(logPath), FILE), "utf8").catch(() => "");
  const column = logPath.endsWith("stderr") ? 2 : 1;
  let start = 0;
  let end: number | null = null;
  for (const line of text.split("\n")) {
    const fields = line.split(" ").map(Number);
    const [atMs = Number.NaN] = fields;
    const size = fields[column];
    if (Number.isNaN(atMs) || size === undefined) continue;
    if (sinceMs > 0 && atMs < sinceMs) start = size;
    // Recorded at this time, so written before it; the next record may include later bytes.
    if (untilMs > 0 && atMs <= untilMs) end = size;
  }
  return { start, end: untilMs > 0 ? Math.max(start, end ?? 0) : null };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
