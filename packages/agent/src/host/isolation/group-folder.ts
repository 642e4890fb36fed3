// Operations on the folders of control groups that v1 and v2 have in common: listing processes of
// a whole subtree (a job may make groups below its own), and removing it from the leaves up.

import { mkdirSync, rmdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Deeper nesting than this is not a job's doing. */
const MAX_DEPTH = 16;

/** Tried twice: another agent that stops may take an empty parent away in between. */
export function makeGroup(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
  } catch {
    mkdirSync(dir, { recursive: true });
  }
}

export async function membersBelow(dir: string, depth = 0): Promise<number[]> {
  const own = await readFile(join(dir, "cgroup.procs"), "utf8").catch(() => "");
  const pids = own
    .split("\n")
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid > 0);
  if (depth >= MAX_DEPTH) return pids;
  for (const child of await childGroups(dir)) pids.push(...(await membersBelow(child, depth + 1)));
  return pids;
}

/** False while a process is left in it. A folder that is not there is as good as removed. */
export async function removeBelow(dir: string, depth = 0): Promise<boolean> {
  if (removed(dir)) return true;
  if (depth >= MAX_DEPTH) return false;
  for (const child of await childGroups(dir)) if (!(await removeBelow(child, depth + 1))) return false;
  return removed(dir);
}

async function childGroups(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(dir, entry.name));
}

/** Attempts that have a group beginning with `prefix`. */
export async function keysOf(prefix: string): Promise<string[]> {
  const all = await childGroups(dirname(prefix));
  return all.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}

/** Leaves nothing behind when nothing runs; the kernel refuses while something does. */
export function removeEmpty(dir: string): void {
  removed(dir);
}

/** Synchronous: the kernel answers from memory, so another thread would only cost. */
function removed(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
