// Stop, walltime and leftovers, with each kind of isolation: nothing of an attempt may stay.

import { realpathSync } from "node:fs";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { detectIsolation } from "../../src/host/isolation/detect.ts";
import { found } from "../fake-server.ts";
import { offered } from "../offered.ts";
import { alive, type Rig, rig } from "../rig.ts";

const pidsIn = (text: string): number[] => text.trim().split("\n").map(Number).filter(Boolean);

describe.each(["cgroup2", "cgroup1", "process_group"] as const)("ending attempts with %s", (isolation) => {
  let r: Rig;
  let next = 100;
  const id = (): string => String(next++);
  beforeAll(async () => {
    r = await rig({ isolation });
  });
  afterAll(() => r.close());

  test("the isolation is reported", () => {
    const reported = r.server.hellos[0]?.capabilities?.isolation;
    expect(reported).toBe(offered(isolation) ? isolation : "process_group");
  });

  test("a stop ends a plain process by SIGTERM", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "echo $$; exec sleep 1000" });
    const [pid] = await found(() => nonEmpty(pidsIn(r.file(a, "stdout"))));
    r.server.stop({ allocationId: a, graceSeconds: 60, reason: "cancelled" });
    const end = await r.server.end(a);
    expect(end).toMatchObject({ state: pb.AllocationState.FAILED, reason: "stopped", exitCode: 143 });
    expect(end.message).toContain("cancelled");
    expect(alive(pid ?? 0)).toBe(false);
  });

  test("a stop ends grandchildren, including processes in other sessions and processes that ignore SIGTERM", async () => {
    const a = id();
    const child = "trap '' TERM; echo $$; while :; do sleep 1; done";
    r.server.run({
      allocationId: a,
      entrypoint: `setsid sh -c "${child.replaceAll("$", "\\$")}" & sh -c '(sh -c "echo \\$\\$; sleep 1000" &) ; sleep 1000' & trap '' TERM; echo $$; wait; sleep 1000`,
    });
    const pids = await found(() => {
      const all = pidsIn(r.file(a, "stdout"));
      return all.length === 3 && all;
    });
    r.server.stop({ allocationId: a, graceSeconds: 1 });
    expect(await r.server.end(a)).toMatchObject({ reason: "stopped" });
    expect(pids.filter(alive)).toEqual([]);
  });

  test("processes left by a finished command end before the end is reported", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "setsid sleep 1000 & echo $!; (sleep 1000 & echo $!); exit 0" });
    expect(await r.server.end(a)).toMatchObject({ state: pb.AllocationState.COMPLETED });
    const pids = pidsIn(r.file(a, "stdout"));
    expect(pids).toHaveLength(2);
    expect(pids.filter(alive)).toEqual([]);
  });

  test("walltime: SIGTERM, grace, SIGKILL", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      walltimeSeconds: 3,
      graceSeconds: 3,
      entrypoint: "trap 'echo got' TERM; echo $$; while :; do sleep 0.1; done",
    });
    expect(await r.server.end(a)).toMatchObject({ reason: "walltime_exceeded" });
    const [pid, got] = r.file(a, "stdout").split("\n");
    expect(got).toBe("got");
    expect(alive(Number(pid))).toBe(false);
  });

  test("a stop before its run order is remembered", async () => {
    const a = id();
    r.server.stop({ allocationId: a });
    expect(await r.server.end(a)).toMatchObject({ reason: "stopped" });
    await r.restart();
    await found(() => r.agent.connected() === 1);
    const before = r.server.reports.length;
    r.server.run({ allocationId: a, entrypoint: "echo ran" });
    await found(() => r.server.reports.length > before);
    expect(r.file(a, "stdout")).toBe("");
    expect(r.server.reports.at(-1)).toMatchObject({ allocationId: a, state: pb.AllocationState.FAILED });
  });

  test("no group is left behind", async () => {
    expect(r.agent.live()).toBe(0);
    const here = detectIsolation({ nodeId: "n1", dataDir: realpathSync(r.dataDir) }, directFiles, isolation);
    // But for the one in which a process waits for the next attempt.
    expect((await here.groups()).length).toBeLessThanOrEqual(1);
  });
});

const nonEmpty = <T>(list: readonly T[]): readonly T[] | false => list.length > 0 && list;
