// Checkpoints of ended allocations, until they are removed. Each is a small file, so that a restarted agent still
// knows it. Several nodes may hold the same record: the first one removes the checkpoints, the others find nothing.
// The user whose rights apply is read from the folder of the allocation, which only root can make: the mapping of users may have
// changed since, and jobs in containers may have run as nobody.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllocationId } from "@lattice/core";
import type { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import { makeOwnFolder, removeOwn } from "../files/own-tree.ts";
import type { UserFiles } from "../files/user-files.ts";
import { ownedFolder } from "./output-folders.ts";
import { removeAll } from "./remove.ts";

interface Clearings {
  /** Returns true when the record is on disk, false when this node cannot reach the checkpoints. */
  add(allocationId: string, clear: pb.CheckpointsToClear): Promise<boolean>;
  close(): void;
}

interface ClearingsOptions {
  readonly dataDir: string;
  /** Root folder of checkpoints; empty when the node has none. */
  readonly outputRoot: string;
  readonly files: Pick<UserFiles, "prune">;
  readonly now: () => number;
  readonly after: After;
  readonly log: Logger;
}

interface Due {
  readonly tenant: string;
  readonly project: string;
  readonly user: string;
  readonly dueMs: number;
}

const LOOK_MS = 60_000;
/** Runs immediately for a record that is already due. */
const SOON_MS = 10;
/** A failing removal is given up after this time. */
const GIVE_UP_MS = 30 * 86_400_000;

export function createClearings(options: ClearingsOptions): Clearings {
  const { outputRoot, now, after, log } = options;
  const dir = join(options.dataDir, "clearing");
  let cancel = after(SOON_MS, () => void look());
  let closed = false;
  /** Removals under way. */
  const clearing = new Set<string>();

  async function look(): Promise<void> {
    for (const id of await readdir(dir).catch(() => [])) {
      const due = await read(join(dir, id));
      // Not awaited: a user can stop the removal of its own checkpoints.
      if ((due === null || now() >= due.dueMs) && !clearing.has(id)) void clear(id, due);
    }
    cancel();
    if (!closed) cancel = after(LOOK_MS, () => void look());
  }

  async function clear(allocationId: string, due: Due | null): Promise<void> {
    clearing.add(allocationId);
    const problem = due === null ? null : await removeOf(allocationId, due);
    const over = due === null || problem === null || now() > due.dueMs + GIVE_UP_MS;
    if (problem !== null)
      log.warn({ allocation: allocationId, problem, over }, "checkpoints of an ended allocation cannot be removed");
    else if (due !== null) log.info({ allocation: allocationId }, "checkpoints of an ended allocation removed");
    if (over) await removeOwn(join(dir, allocationId));
    clearing.delete(allocationId);
  }

  const removeOf = (allocationId: string, { tenant, project, user }: Due): Promise<string | null> =>
    removeAll(ownedFolder(outputRoot, { tenant, project, allocationId }), { whose: user, files: options.files });

  return {
    async add(allocationId, { tenant, project, user, afterSeconds }) {
      // The id becomes a file name.
      if (outputRoot === "" || parseAllocationId(allocationId) === null) return false;
      const due: Due = { tenant, project, user, dueMs: now() + afterSeconds * 1000 };
      await makeOwnFolder(dir, 0o700);
      await writeFile(join(dir, allocationId), JSON.stringify(due), { mode: 0o600 });
      if (afterSeconds * 1000 >= LOOK_MS || closed) return true;
      cancel();
      cancel = after(afterSeconds * 1000 + SOON_MS, () => void look());
      return true;
    },
    close() {
      closed = true;
      cancel();
    },
  };
}

/** Returns null when the file is malformed. */
async function read(path: string): Promise<Due | null> {
  try {
    const { tenant, project, user, dueMs } = JSON.parse(await readFile(path, "utf8")) as Partial<Due>;
    const whole = typeof tenant === "string" && typeof project === "string" && typeof user === "string";
    return whole && typeof dueMs === "number" ? { tenant, project, user, dueMs } : null;
  } catch {
    return null;
  }
}
