// Decides whether the preload library fits the container of the ranks: it was built for this node's C library, and a
// program with an older or different one would not start with it. Such ranks run without it. The container's files are the
// user's: they are read with the user's rights, in another process.

import { join } from "node:path";
import type { FileUser, UserFiles } from "../files/user-files.ts";

/** Where the C library is, by its usual names. */
const PLACES = [
  "lib/x86_64-linux-gnu/libc.so.6",
  "lib/aarch64-linux-gnu/libc.so.6",
  "lib64/libc.so.6",
  "usr/lib64/libc.so.6",
  "usr/lib/libc.so.6",
];
const NAME = "GNU C Library";

interface RankFiles {
  readonly files: Pick<UserFiles, "head" | "search">;
  readonly owner: FileUser | null;
  /** The container's root directory, as the agent sees it. */
  readonly root: string;
}

/** `preload` or "". */
export async function fittingPreload(preload: string, { files, owner, root }: RankFiles): Promise<string> {
  if (preload === "" || (await files.head(join(root, preload), owner, 1).catch(() => null)) === null) return "";
  const versionIn = (folder: string) => libraryVersion(files, folder, owner);
  const [own, inside] = await Promise.all([versionIn("/"), versionIn(root)]);
  return own !== null && inside !== null && isAtLeast(inside, own) ? preload : "";
}

async function libraryVersion(files: RankFiles["files"], root: string, user: FileUser | null): Promise<string | null> {
  for (const place of PLACES) {
    const text = await files.search(join(root, place), NAME, user).catch(() => null);
    const version = /^GNU C Library[^\0]{0,100}? version (\d+\.\d+)/.exec(text?.toString("latin1") ?? "")?.[1];
    if (version !== undefined) return version;
  }
  return null;
}

export function isAtLeast(version: string, least: string): boolean {
  const [a = 0, b = 0] = version.split(".").map(Number);
  const [c = 0, d = 0] = least.split(".").map(Number);
  return a > c || (a === c && b >= d);
}
