// One cgroup v1 group per attempt, in the freezer hierarchy where there is one: frozen processes cannot fork while
// they are killed. Without the freezer the caller repeats the kill until the group is empty.

import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { holdsOnly, keysOf, makeGroup, membersBelow, removeBelow, removeEmpty } from "./group-folder.ts";
import { type Isolation, signalEach } from "./isolation.ts";

export function cgroup1(prefix: string): Isolation {
  const groupOf = (key: string): string => `${prefix}${key}`;
  return {
    kind: "cgroup1",
    async prepare({ key }) {
      makeGroup(groupOf(key));
      // As in `limit-groups.ts`: a process of one thread moves itself without a wait.
      return join(groupOf(key), "tasks");
    },
    folderOf: groupOf,
    members: ({ key }) => membersBelow(groupOf(key)),
    isClean: ({ key, leader }) => holdsOnly(groupOf(key), leader),
    async kill({ key }) {
      await freeze(groupOf(key), "FROZEN");
      signalEach(await membersBelow(groupOf(key)), "SIGKILL");
      await freeze(groupOf(key), "THAWED");
    },
    remove: ({ key }) => removeBelow(groupOf(key)),
    groups: () => keysOf(prefix),
    close: async () => removeEmpty(dirname(prefix)),
  };
}

async function freeze(group: string, state: "FROZEN" | "THAWED"): Promise<void> {
  // Only the freezer hierarchy has this file.
  await writeFile(join(group, "freezer.state"), state, { flag: "r+" }).catch(() => undefined);
}
