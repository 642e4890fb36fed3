// Decides whether the preload library fits the container of the ranks: it was built for this node's C library, and a
// program with an older or different one would not start with it. Such ranks run without it.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** Where the C library is, by its usual names. */
const PLACES = [
  "lib/x86_64-linux-gnu/libc.so.6",
  "lib/aarch64-linux-gnu/libc.so.6",
  "lib64/libc.so.6",
  "usr/lib64/libc.so.6",
  "usr/lib/libc.so.6",
];
const MAX_LIBRARY_BYTES = 32 * 1024 * 1024;

/** `preload` or "". `root`: the container's files, as the agent sees them. */
export async function fittingPreload(preload: string, root: string): Promise<string> {
  if (preload === "" || (await stat(join(root, preload)).catch(() => null)) === null) return "";
  const [own, inside] = await Promise.all([libraryVersion("/"), libraryVersion(root)]);
  return own !== null && inside !== null && isAtLeast(inside, own) ? preload : "";
}

async function libraryVersion(root: string): Promise<string | null> {
  for (const place of PLACES) {
    const path = join(root, place);
    const found = await stat(path).catch(() => null);
    if (found === null || !found.isFile() || found.size > MAX_LIBRARY_BYTES) continue;
    const text = await readFile(path, "latin1").catch(() => "");
    const version = /GNU C Library[^\0]{0,100}? version (\d+\.\d+)/.exec(text)?.[1];
    if (version !== undefined) return version;
  }
  return null;
}

export function isAtLeast(version: string, least: string): boolean {
  const [a = 0, b = 0] = version.split(".").map(Number);
  const [c = 0, d = 0] = least.split(".").map(Number);
  return a > c || (a === c && b >= d);
}
