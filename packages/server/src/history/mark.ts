// Up to which entry of the log a history has everything, kept in a file of its own beside the
// segments: the index may be deleted at any time, and the segments say only what is there, not what
// is missing. A history of a time before this file was kept counts as whole: what it lacks cannot be
// told any more. One that is just being made has nothing, and says so before it has anything else.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

const NAME = "through.json";

/** Nothing of these in the folder: no server has kept its history here before. */
const TRACES = /^(history-[0-9]{8}\.jsonl|index\.db)$/;

/** Null: whole, as far as anybody can tell. Makes the folder when it is not there. */
export function readMark(dir: string, onWarning: (text: string) => void): number | null {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, NAME);
  if (!existsSync(path)) {
    if (readdirSync(dir).some((name) => TRACES.test(name))) return null;
    writeMark(dir, 0);
    return 0;
  }
  const through = parse(readFileSync(path, "utf8"));
  if (through !== null) return through;
  onWarning(`${path} cannot be read: the history is taken for empty, and filled again from other servers`);
  return 0;
}

/** Durable when it returns. Recovery calls it for a history that it has put in place. */
export function writeMark(dir: string, through: number): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, NAME);
  const partial = `${path}.partial`;
  const fd = openSync(partial, "w", 0o600);
  try {
    writeSync(fd, `${JSON.stringify({ through })}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(partial, path);
  syncFolder(dir);
}

function parse(text: string): number | null {
  try {
    const { through } = JSON.parse(text) as { readonly through?: unknown };
    return Number.isSafeInteger(through) && (through as number) >= 0 ? (through as number) : null;
  } catch {
    return null;
  }
}

function syncFolder(dir: string): void {
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
