// An agent that was handed one group of v2 and begins in it: it steps down, so that the groups of attempts get controllers.
// This machine has few controllers in v2, so the one that is there is asked for.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { controlGroupMounts } from "../../src/host/isolation/detect.ts";
import { limitGroups } from "../../src/host/isolation/limit-groups.ts";

const { v2 } = controlGroupMounts(readFileSync("/proc/self/mountinfo", "utf8"));
const [controller] = v2 === null ? [] : readFileSync(join(v2, "cgroup.subtree_control"), "utf8").trim().split(/\s+/);

test.runIf(v2 !== null && controller !== undefined && controller !== "")(
  "the group that holds the agent gives controllers to those below it",
  () => {
    const own = join(v2 ?? "", `lattice-delegated-${process.pid}`);
    mkdirSync(own);
    const module = new URL("../../src/host/isolation/limit-groups.ts", import.meta.url).pathname;
    const script = `
      import { readFileSync } from "node:fs";
      import { enableControllers } from ${JSON.stringify(module)};
      const enabled = await enableControllers(${JSON.stringify(join(own, "lattice", "n1@"))}, [${JSON.stringify(controller)}]);
      console.log(JSON.stringify({ enabled, at: readFileSync("/proc/self/cgroup", "utf8").match(/^0::(.*)$/m)[1] }));`;
    try {
      const run = `echo $$ >${own}/cgroup.procs && exec ${process.execPath} --import tsx --input-type=module -e "$0"`;
      const output = JSON.parse(execFileSync("/bin/sh", ["-c", run, script], { encoding: "utf8" })) as object;
      expect(output).toMatchObject({
        enabled: [controller],
        at: expect.stringMatching(/lattice-delegated-\d+\/agent$/),
      });
    } finally {
      for (const dir of ["lattice", "agent", ""]) rmdirSync(join(own, dir));
    }
  },
);

test("an engine receives the full path of the attempt's group", () => {
  const v1 = new Map<string, string>();
  const below = limitGroups(
    { v2: "/sys/fs/cgroup/system.slice/agent/lattice/n1@", v2Base: "/system.slice/agent", v1 },
    "n1@",
  );
  expect(below.parentOf("1.1")).toBe("/system.slice/agent/lattice/n1@1.1");
  expect(limitGroups({ v2: null, v2Base: "/system.slice/agent", v1 }, "n1@").parentOf("1.1")).toBe("/lattice/n1@1.1");
});
