// Cleanup after a dead shepherd kills the processes of its launch only.

import { type ChildProcess, spawn } from "node:child_process";
import { expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { endLeftBehind } from "../../src/tasks/left-behind.ts";
import { found } from "../fake-server.ts";
import { alive } from "../rig.ts";

test("only the processes of that launch are ended, among those of the attempt", async () => {
  const start = (id: string): ChildProcess =>
    spawn("/bin/sleep", ["600"], { stdio: "ignore", env: { A: "1", LATTICE_LAUNCH_ID: id, Z: "2" } });
  const [own, longer, other, outside] = ["7-1", "7-10", "8-1", "7-1"].map(start) as [
    ChildProcess,
    ChildProcess,
    ChildProcess,
    ChildProcess,
  ];
  const pidOf = ({ pid }: ChildProcess): number => pid ?? 0;
  try {
    const members = [own, longer, other].map(pidOf);
    const environ = (pid: number) => directFiles.environ(pid, "");
    const processes = { members: () => Promise.resolve(members), environ };
    expect(await endLeftBehind(processes, "7-1")).toBe(1);
    await found(() => !alive(pidOf(own)));
    expect([longer, other, outside].map((child) => alive(pidOf(child)))).toEqual([true, true, true]);
    expect(await endLeftBehind(processes, "9-1")).toBe(0);
  } finally {
    for (const child of [own, longer, other, outside]) child.kill("SIGKILL");
  }
});
