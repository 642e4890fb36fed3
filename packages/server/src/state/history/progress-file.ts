// The file that records up to which entry a history is complete. It is separate from the segments and the index: the
// index may be deleted at any time, and the segments cannot show what is missing. A history without this file, from
// before it existed, counts as complete. A new history writes 0 before anything else.

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

/** Without any of these files, no server has kept its history here before. */
const TRACES = /^(history-[0-9]{8}\.jsonl|index\.db)$/;

/** Returns `null` for a history that counts as complete. Creates the directory when it is missing. */
export function readProgress(dir: string, onWarning: (text: string) => void): number | null {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, NAME);
  if (!existsSync(path)) {
    if (readdirSync(dir).some((name) => TRACES.test(name))) return null;
    writeProgress(dir, 0);
    return 0;
  }
  const through = parse(readFileSync(path, "utf8"));
  if (through !== null) return through;
  onWarning(`${path} cannot be read: treating the history as empty and fetching it from other servers`);
  return 0;
}

/** Durable when it returns. Recovery calls it for a restored history. */
export function writeProgress(dir: string, through: number): void {
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
