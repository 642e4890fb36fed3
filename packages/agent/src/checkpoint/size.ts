// How much a checkpoint has written, as far as its folder tells. Links are not followed, and a folder with
// very many files is counted in part.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

const MAX_FILES = 10_000;

export function bytesIn(folder: string): number {
  const waiting = [folder];
  let bytes = 0;
  let files = 0;
  for (let next = waiting.pop(); next !== undefined && files < MAX_FILES; next = waiting.pop()) {
    for (const entry of entriesOf(next)) {
      files += 1;
      if (entry.isDirectory()) waiting.push(join(next, entry.name));
      else if (entry.isFile()) bytes += sizeOf(join(next, entry.name));
    }
  }
  return bytes;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0;
  }
}
