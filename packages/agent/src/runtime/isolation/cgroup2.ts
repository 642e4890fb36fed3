// One cgroup v2 group for each attempt. No controller is needed: the group is there to hold the
// process tree together, and `cgroup.kill` ends all of it at once, forks under way included.

import { rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { childGroups, makeGroup, membersBelow, removeBelow } from "./group-folder.ts";
import type { Isolation } from "./isolation.ts";

/** `home`: this agent's own folder in the hierarchy. */
export function cgroup2(home: string): Isolation {
  const groupOf = (key: string): string => join(home, key);
  return {
    kind: "cgroup2",
    async prepare({ key }) {
      await makeGroup(groupOf(key));
      return join(groupOf(key), "cgroup.procs");
    },
    members: ({ key }) => membersBelow(groupOf(key)),
    async kill({ key }) {
      await writeFile(join(groupOf(key), "cgroup.kill"), "1").catch(ignoreMissing);
    },
    remove: ({ key }) => removeBelow(groupOf(key)),
    groups: async () => (await childGroups(home)).map((path) => basename(path)),
    close: () => removeEmpty(home),
  };
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Leaves nothing behind when nothing runs; the kernel refuses while something does. */
export async function removeEmpty(home: string): Promise<void> {
  await rmdir(home).catch(() => undefined);
  await rmdir(dirname(home)).catch(() => undefined);
}
