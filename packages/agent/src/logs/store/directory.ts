// A log store in a folder. Objects become visible by a rename, so that a reader never sees a partial one. They hold the
// output of all tenants, so only their owner and one group can read them, and a folder that is open to every user of the
// machine is refused: each user with the file system mounted could read everything.

import { type Stats, statSync } from "node:fs";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { giveToGroup, makeOwnFolder } from "../../files/own-tree.ts";
import type { LogStore } from "./log-store.ts";

export interface StoreAccess {
  /** The group that servers read as; `null` for that of the agent. */
  readonly gid: number | null;
  /** Every user may enter the folder: the site accepts that. */
  readonly mayBeOpen: boolean;
}

const FOLDER_MODE = 0o750;
const FILE_MODE = 0o640;
const OF_OTHERS = 0o007;

/** Throws when other users of the machine can enter the folder, unless that is accepted. */
export function directoryStore(dir: string, { gid, mayBeOpen }: StoreAccess): LogStore {
  const give = async (path: string, mode: number): Promise<void> => {
    if (gid !== null) await giveToGroup(path, gid, mode);
  };

  async function makeFolder(path: string): Promise<void> {
    const found = await stat(path).catch(() => null);
    if (found !== null) return;
    if (path !== dir) await makeFolder(dirname(path));
    await makeOwnFolder(path, FOLDER_MODE);
    await give(path, FOLDER_MODE);
  }

  let isChecked = mayBeOpen;

  function check(found: Stats): void {
    const mode = found.mode & 0o777;
    if (!isChecked && (mode & OF_OTHERS) !== 0)
      throw new Error(
        `the log store ${dir} is open to every user of this machine (mode ${mode.toString(8)}), and it holds the output ` +
          `of all tenants; remove access for others (mode 0750) and let servers read it through a group (--log-store-group), or accept it ` +
          "with --log-store-open",
      );
    isChecked = true;
  }

  // A file system that is away now is checked before the first write.
  const atStart = statOrNull(dir);
  if (atStart?.isDirectory() === true) check(atStart);
  return {
    place: dir,
    async put(key, bytes) {
      const path = join(dir, key);
      await makeFolder(dirname(path));
      if (!isChecked) check(await stat(dir));
      const beside = `${path}.${process.pid}.part`;
      await writeFile(beside, bytes, { mode: FILE_MODE });
      await give(beside, FILE_MODE);
      await rename(beside, path);
    },
    get: (key) =>
      readFile(join(dir, key)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      }),
  };
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
