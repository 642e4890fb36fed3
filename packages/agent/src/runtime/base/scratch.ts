// The scratch folders of attempts. An empty one is kept for the next attempt of the same user: creating and removing a
// folder per short job costs more than the job. Only its name and mode change; another user never gets it, since a
// program may still have it open.

import { opendirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { handOver, makeFolderFor } from "../../files/own-tree.ts";
import type { UserFiles } from "../../files/user-files.ts";
import type { RunAs } from "../../host/user/user.ts";

export interface ScratchFolders {
  readonly root: string;
  pathOf(key: string): string;
  /** Returns an empty folder that belongs to the user; repeating the call is harmless. */
  make(key: string, runAs: RunAs | null): string;
  /** Removes the folder with its content. `whose`: its user, who has a few removals at a time. */
  clear(key: string, whose?: () => string): Promise<void>;
  /** Whether a folder of this name is kept for later. */
  keeps(name: string): boolean;
}

const SPARE = ".spare-";
/** Spare directories per user. */
const MAX_SPARES = 4;
const MODE = 0o700;

export function scratchFolders(root: string, files: Pick<UserFiles, "clear">): ScratchFolders {
  const spares = new Map<number | null, string[]>();
  const owners = new Map<string, number | null>();
  let made = 0;
  const pathOf = (key: string): string => join(root, key);

  function takeSpare(runAs: RunAs | null, path: string): boolean {
    const spare = spares.get(runAs?.uid ?? null)?.pop();
    if (spare === undefined) return false;
    try {
      handOver(spare, runAs ?? ownUser(), MODE, "folder");
      renameSync(spare, path);
      return true;
    } catch {
      return false;
    }
  }

  function keep(uid: number | null, path: string): boolean {
    const kept = spares.get(uid) ?? [];
    if (kept.length >= MAX_SPARES || !isEmpty(path)) return false;
    made += 1;
    const spare = join(root, `${SPARE}${process.pid}-${made}`);
    renameSync(path, spare);
    spares.set(uid, [...kept, spare]);
    return true;
  }

  return {
    root,
    pathOf,
    make(key, runAs) {
      const path = pathOf(key);
      const isNew = !owners.has(key);
      owners.set(key, runAs?.uid ?? null);
      if (isNew && takeSpare(runAs, path)) return path;
      // A single system call: a thread would cost more.
      makeFolderFor(path, runAs, MODE);
      return path;
    },
    async clear(key, whose = () => key) {
      const path = pathOf(key);
      const uid = owners.get(key);
      owners.delete(key);
      try {
        if (uid !== undefined && keep(uid, path)) return;
        rmdirSync(path);
      } catch {
        await files.clear(root, key, whose());
      }
    },
    keeps: (name) => [...spares.values()].flat().includes(join(root, name)),
  };
}

/** Reads one entry: a list of millions would block the agent. */
function isEmpty(path: string): boolean {
  const folder = opendirSync(path, { bufferSize: 1 });
  try {
    return folder.readSync() === null;
  } finally {
    folder.closeSync();
  }
}

const ownUser = () => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
