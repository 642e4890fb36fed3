// One cgroup v2 group per attempt. It needs no controller: it holds the process tree together, and `cgroup.kill` ends
// all of it, including forks in progress.

import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { holdsOnly, keysOf, makeGroup, membersBelow, removeBelow, removeEmpty } from "./group-folder.ts";
import type { Isolation } from "./isolation.ts";

/** `prefix` of all group paths of this agent. */
export function cgroup2(prefix: string): Isolation {
  const groupOf = (key: string): string => `${prefix}${key}`;
  return {
    kind: "cgroup2",
    async prepare({ key }) {
      makeGroup(groupOf(key));
      return join(groupOf(key), "cgroup.procs");
    },
    folderOf: groupOf,
    members: ({ key }) => membersBelow(groupOf(key)),
    isClean: ({ key, leader }) => holdsOnly(groupOf(key), leader),
    async kill({ key }) {
      await writeFile(join(groupOf(key), "cgroup.kill"), "1").catch(ignoreMissing);
    },
    remove: ({ key }) => removeBelow(groupOf(key)),
    groups: () => keysOf(prefix),
    close: async () => removeEmpty(dirname(prefix)),
  };
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
