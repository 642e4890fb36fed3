// A log store in a folder. Objects become visible by a rename, so that a reader never sees a partial one.

import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeOwnFolder } from "../../files/own-tree.ts";
import type { LogStore } from "./log-store.ts";

export function directoryStore(dir: string): LogStore {
  return {
    place: dir,
    async put(key, bytes) {
      const path = join(dir, key);
      await makeOwnFolder(dirname(path), 0o755);
      const beside = `${path}.${process.pid}.part`;
      await writeFile(beside, bytes);
      await rename(beside, path);
    },
    get: (key) =>
      readFile(join(dir, key)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      }),
  };
}
