// Measures how much a checkpoint has written. Links are not followed, and a folder with very many files is counted in
// part.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

const MAX_FILES = 10_000;

interface Written {
  readonly bytes: number;
  /** All of it could be looked at. */
  readonly seen: boolean;
}

export const bytesIn = (folder: string): number => writtenIn(folder).bytes;

export function writtenIn(folder: string): Written {
  const waiting = [folder];
  let seen = true;
  let bytes = 0;
  let files = 0;
  for (let next = waiting.pop(); next !== undefined && files < MAX_FILES; next = waiting.pop()) {
    const entries = entriesOf(next);
    if (entries === null) seen = false;
    for (const entry of entries ?? []) {
      files += 1;
      if (entry.isDirectory()) waiting.push(join(next, entry.name));
      else if (entry.isFile()) bytes += sizeOf(join(next, entry.name));
    }
  }
  return { bytes, seen };
}

/** Returns null when the folder cannot be read. A missing folder counts as empty. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? [] : null;
  }
}

function sizeOf(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0;
  }
}
