// Remembers outside of etcd's folder that a member was here. etcd that is started without its log creates a cluster of
// its own, which would accept writes that the real cluster never sees; so a member whose log is lost is never started.

import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ManagedError } from "./managed-error.ts";

const MARK = "present";
/** The rest of a member without its log. It is kept for an investigation, and etcd never reads it again. */
const ASIDE = "data.incomplete";

/** Whether etcd continues from this folder: it does if and only if there is a file of its write-ahead log. */
export async function holdsLog(dataDir: string): Promise<boolean> {
  try {
    return (await readdir(join(dataDir, "member", "wal"))).some((name) => name.endsWith(".wal"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

/** Durable when it returns. */
export async function markPresent(dir: string): Promise<void> {
  // An existing mark is kept: a full disk must not keep a member from starting.
  await syncAt(join(dir, MARK), "a");
  await syncAt(dir, "r");
}

async function syncAt(path: string, flags: "a" | "r"): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export const wasPresent = (dir: string): Promise<boolean> =>
  stat(join(dir, MARK)).then(
    () => true,
    () => false,
  );

/** Moves the rest of a member without its log aside: a new member must not begin on the database of another one. */
export async function setIncompleteAside(dir: string, dataDir: string): Promise<void> {
  await rm(join(dir, ASIDE), { recursive: true, force: true });
  await rename(dataDir, join(dir, ASIDE)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

export const lostError = (dataDir: string): ManagedError =>
  new ManagedError(
    "data_lost",
    `the data of this server's etcd member is gone from ${dataDir}; it is not started again, because it would be ` +
      "another cluster. Start this server once with --join ADDRESS --replace, which replaces the lost member; if all " +
      "servers have lost their data, start one with --bootstrap --recover-from",
  );
