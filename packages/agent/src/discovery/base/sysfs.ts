// Reads the kernel's description of the machine below a root, which is "/" outside of tests. A missing file reads as
// empty.

import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

export interface Sysfs {
  /** Returns the trimmed content; "" for a missing file. */
  read(path: string): string;
  /** Sorted by name, numbers by value. */
  list(folder: string): readonly string[];
  /** Returns the target of a link, without the root; "" for a missing link. */
  follow(path: string): string;
}

export function sysfs(root = "/"): Sysfs {
  const base = realpathSync(root);
  return {
    read(path) {
      try {
        return readFileSync(join(base, path), "utf8").trim();
      } catch {
        return "";
      }
    },
    list(folder) {
      try {
        return readdirSync(join(base, folder)).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      } catch {
        return [];
      }
    },
    follow(path) {
      try {
        const found = realpathSync(join(base, path));
        return base === "/" ? found : found.slice(base.length);
      } catch {
        return "";
      }
    },
  };
}

/** Parses "0-3,8" to 0, 1, 2, 3 and 8. */
export function numbersOf(list: string): number[] {
  return list.split(",").flatMap((part) => {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    if (match === null) return [];
    const from = Number(match[1]);
    const to = Number(match[2] ?? match[1]);
    return Array.from({ length: Math.max(0, Math.min(to - from + 1, MAX_NUMBERS)) }, (_, n) => from + n);
  });
}

const MAX_NUMBERS = 65_536;
