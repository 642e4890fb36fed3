// Operations on the folders of control groups that v1 and v2 have in common: listing processes of
// a whole subtree (a job may make groups below its own), and removing it from the leaves up.

import { readFileSync, rmdirSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeOwnFolderNow } from "../../files/own-tree.ts";

/** No job nests groups deeper. */
const MAX_DEPTH = 16;

/** Retried once: another stopping agent may remove an empty parent in between. */
export function makeGroup(dir: string): void {
  try {
    makeOwnFolderNow(dir, 0o755);
  } catch {
    makeOwnFolderNow(dir, 0o755);
  }
}

/** Most attempts have one group, which the kernel lists from memory. */
export async function membersBelow(dir: string, depth = 0): Promise<number[]> {
  const pids = membersOf(dir);
  if (depth >= MAX_DEPTH || !mayHaveChildren(dir)) return pids;
  for (const child of await childGroups(dir)) pids.push(...(await membersBelow(child, depth + 1)));
  return pids;
}

function membersOf(dir: string): number[] {
  try {
    return readFileSync(join(dir, "cgroup.procs"), "utf8")
      .split("\n")
      .map((line) => Number.parseInt(line, 10))
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

/** A folder has one link by its name, one by ".", and one by ".." of each folder in it. */
const LINKS_WITHOUT_CHILDREN = 2;

/** Whether this process is the only one in the group, which has no group below it. */
export function holdsOnly(dir: string, pid: number | null): boolean {
  if (pid === null) return false;
  try {
    const isOnly = readFileSync(join(dir, "cgroup.procs"), "utf8") === `${pid}\n`;
    return isOnly && statSync(dir).nlink === LINKS_WITHOUT_CHILDREN;
  } catch {
    return false;
  }
}

function mayHaveChildren(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false })?.nlink !== LINKS_WITHOUT_CHILDREN;
}

/** Returns false while the group has processes. A missing directory counts as removed. */
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

/** Returns the attempts with a group that starts with `prefix`. */
export async function keysOf(prefix: string): Promise<string[]> {
  const all = await childGroups(dirname(prefix));
  return all.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}

/** Removes empty parent groups; the kernel refuses to remove used ones. */
export function removeEmpty(dir: string): void {
  removed(dir);
}

/** Synchronous: the kernel answers from memory, so a thread would only add cost. */
function removed(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
