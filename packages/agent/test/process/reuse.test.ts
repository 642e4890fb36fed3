// A wrapper serves one attempt after the other, and nothing of one is left for the next.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pb } from "@lattice/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { found } from "../fake-server.ts";
import { offered } from "../offered.ts";
import { alive, type Rig, rig } from "../rig.ts";

let r: Rig;
beforeEach(async () => {
  r = await rig({ options: { killWorkloadsOnExit: false } });
});
afterEach(() => r.close());

const wrapperOf = (allocation: string): string => r.file(allocation, "pid");

/** Control groups are needed to see that nothing is left; without them each attempt has its own wrapper. */
const reuses = (): boolean => offered("cgroup2") || offered("cgroup1");

test("an attempt has the wrapper of the one before and nothing else of it", async () => {
  const look = "umask; pwd; ls /proc/self/fd | tr '\\n' ' '; echo; env | cut -d= -f1 | sort | tr '\\n' ' '; echo $FROM";
  r.server.run({
    allocationId: "1",
    entrypoint: `${look}; umask 000; cd /; export LEFT=1`,
    variables: { FROM: "first", ONLY_FIRST: "1" },
    workdir: "/tmp",
  });
  await r.server.end("1");
  r.server.run({ allocationId: "2", entrypoint: look, variables: { FROM: "second" }, workdir: "/tmp" });
  expect(await r.server.end("2")).toMatchObject({ state: pb.AllocationState.COMPLETED, exitCode: 0 });
  if (reuses()) expect(wrapperOf("2")).toBe(wrapperOf("1"));
  const [first, second] = ["1", "2"].map((id) => r.file(id, "stdout").replace("ONLY_FIRST ", ""));
  expect(second).toBe(first?.replace("first", "second"));
  expect(r.file("1", "stderr")).toBe("");
});

test("an attempt is charged nothing of the attempts before in the same wrapper, also after a restart", async () => {
  const burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
  r.server.run({ allocationId: "1", entrypoint: burn });
  const first = (await r.server.end("1")).used?.processorMs ?? 0;
  expect(first).toBeGreaterThan(50);
  r.server.run({ allocationId: "2", entrypoint: "true" });
  expect((await r.server.end("2")).used?.processorMs ?? 0).toBeLessThan(first / 2);
  r.server.run({ allocationId: "3", entrypoint: "echo started; while [ ! -e go ]; do sleep 0.05; done", workdir: "" });
  await found(() => r.file("3", "stdout"));
  await r.restart();
  await r.server.running("3");
  writeFileSync(join(r.dataDir, "attempts/3.1/go"), "");
  expect((await r.server.end("3")).used?.processorMs ?? 0).toBeLessThan(first / 2);
  if (reuses()) expect(new Set(["1", "2", "3"].map(wrapperOf)).size).toBe(1);
});

test("a process left behind ends with its attempt, whose wrapper then serves no other", async () => {
  r.server.run({ allocationId: "1", entrypoint: "setsid sleep 1000 & echo $!; exit 3" });
  expect(await r.server.end("1")).toMatchObject({ exitCode: 3 });
  expect(alive(Number(r.file("1", "stdout")))).toBe(false);
  r.server.run({ allocationId: "2", entrypoint: "exit 4" });
  expect(await r.server.end("2")).toMatchObject({ exitCode: 4 });
  expect(wrapperOf("2")).not.toBe(wrapperOf("1"));
});

test("an attempt that kills its wrapper fails alone", async () => {
  r.server.run({ allocationId: "1", entrypoint: "true" });
  await r.server.end("1");
  r.server.run({ allocationId: "2", entrypoint: "kill -KILL $PPID; sleep 1000" });
  expect(await r.server.end("2")).toMatchObject({ state: pb.AllocationState.FAILED, reason: "signal" });
  r.server.run({ allocationId: "3", entrypoint: "exit 5" });
  expect(await r.server.end("3")).toMatchObject({ exitCode: 5 });
});

test("a restart between the end of one attempt and its record touches the next one of the wrapper in nothing", async () => {
  r.server.settings.acknowledge = false;
  r.server.run({ allocationId: "1", entrypoint: "exit 6" });
  await r.server.end("1");
  r.server.run({ allocationId: "2", entrypoint: "echo $$; while [ ! -e go ]; do sleep 0.05; done; exit 7" });
  const pid = Number(await found(() => r.file("2", "stdout")));
  if (reuses()) expect(wrapperOf("2")).toBe(wrapperOf("1"));
  r.server.reports.length = 0;
  await r.restart();
  expect(await r.server.end("1")).toMatchObject({ exitCode: 6 });
  await r.server.running("2");
  expect(alive(pid)).toBe(true);
  writeFileSync(join(r.dataDir, "attempts/2.1/go"), "");
  expect(await r.server.end("2")).toMatchObject({ exitCode: 7 });
});

test("the record of an attempt has nothing of what the attempts before have used, after a restart of the agent too", async () => {
  const busy = "python3 -c 'import time\nwhile time.process_time() < 0.8: pass'";
  r.server.run({ allocationId: "1", entrypoint: busy });
  expect(Number((await r.server.end("1")).used?.processorMs)).toBeGreaterThanOrEqual(700);
  r.server.run({ allocationId: "2", entrypoint: "true" });
  expect(Number((await r.server.end("2")).used?.processorMs)).toBeLessThan(400);
  r.server.run({ allocationId: "3", entrypoint: "while [ ! -e go ]; do sleep 0.05; done" });
  await r.server.running("3");
  if (reuses()) expect([wrapperOf("2"), wrapperOf("3")]).toEqual([wrapperOf("1"), wrapperOf("1")]);
  await r.restart();
  writeFileSync(join(r.dataDir, "attempts/3.1/go"), "");
  expect(Number((await r.server.end("3")).used?.processorMs)).toBeLessThan(600);
});
