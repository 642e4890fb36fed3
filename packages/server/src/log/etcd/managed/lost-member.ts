// Remembers outside of etcd's folder that a member was here. etcd that is started on an empty folder founds a cluster of
// its own, which would accept writes that the real cluster never sees; so a folder that was lost is never started on.

import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManagedError } from "./managed-error.ts";

const MARK = "present";

export async function markPresent(dir: string): Promise<void> {
  // An existing mark is kept: a full disk must not keep a member from starting.
  await writeFile(join(dir, MARK), "", { flag: "a" });
}

/** Throws when a member was here and its data is gone. */
export async function refuseLost(dir: string, dataDir: string): Promise<void> {
  const marked = await stat(join(dir, MARK)).then(
    () => true,
    () => false,
  );
  if (marked) throw lostError(dataDir);
}

export const lostError = (dataDir: string): ManagedError =>
  new ManagedError(
    "data_lost",
    `the data of this server's etcd member is gone from ${dataDir}; it is not started again, because it would be ` +
      "another cluster. On another server run `lattice admin raft remove-member` for this server, then start it once " +
      "with --join; if all servers have lost their data, start one with --recover-from",
  );
