// Agents that go away and come back, cleanly or by kill -9, and what becomes of their workloads.

import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pb } from "@lattice/wire";
import { buildSync } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { discoverBootId } from "../../src/discovery/hardware.ts";
import { directFiles } from "../../src/files/direct-files.ts";
import { detectIsolation } from "../../src/host/isolation/detect.ts";
import { fakeServer, found } from "../fake-server.ts";
import { offered } from "../offered.ts";
import { alive, type Rig, rig } from "../rig.ts";

describe("a restarted agent", () => {
  let r: Rig;
  beforeEach(async () => {
    r = await rig({ options: { killWorkloadsOnExit: false } });
  });
  afterEach(async () => {
    for (const n of readdirSync(join(r.dataDir, "attempts")))
      r.server.stop({ allocationId: n.split(".")[0] ?? "", graceSeconds: 1 });
    await found(() => r.agent.live() === 0);
    await r.close();
  });
  const reconnected = async (): Promise<void> => void (await found(() => r.agent.connected() === 1));
  const lastHello = () => r.server.hellos.at(-1)?.attempts.map(({ allocationId, state }) => ({ allocationId, state }));

  test("a restarted agent reports its running workload, and later its exit", async () => {
    r.server.run({ allocationId: "1", entrypoint: "echo $$; while [ ! -e go ]; do sleep 0.05; done; exit 6" });
    const pid = Number(await found(() => r.file("1", "stdout")));
    await r.restart();
    expect(alive(pid)).toBe(true);
    await reconnected();
    expect(lastHello()).toEqual([{ allocationId: "1", state: pb.AllocationState.RUNNING }]);
    r.server.run({ allocationId: "1", entrypoint: "echo twice" });
    writeFileSync(join(r.dataDir, "attempts/1.1/go"), "");
    expect(await r.server.end("1")).toMatchObject({ reason: "exit_code", exitCode: 6 });
    expect(r.file("1", "stdout")).toBe(`${pid}\n`);
  });

  test("exits during the absence of the agent are reported", async () => {
    r.server.run({ allocationId: "2", entrypoint: "sleep 0.3; exit 7" });
    await r.server.running("2");
    await r.agent.close();
    await found(() => r.file("2", "exit"));
    await r.start();
    expect(await r.server.end("2")).toMatchObject({ reason: "exit_code", exitCode: 7 });
  });

  test("an end is reported until it is acknowledged, across restarts", async () => {
    r.server.settings.acknowledge = false;
    r.server.run({ allocationId: "3", entrypoint: "exit 8" });
    await r.server.end("3");
    r.server.reports.length = 0;
    await r.restart();
    expect(await r.server.end("3")).toMatchObject({ exitCode: 8 });
    expect(lastHello()).toEqual([{ allocationId: "3", state: pb.AllocationState.FAILED }]);
    r.server.settings.acknowledge = true;
    await r.restart();
    await found(() => existsSync(join(r.dataDir, "ended/3.1")));
    await r.restart();
    await reconnected();
    expect(lastHello()).toEqual([]);
  });

  test("an attempt killed without an exit status is lost", async () => {
    r.server.run({ allocationId: "4", entrypoint: "echo ready; sleep 1000" });
    await r.server.running("4");
    await found(() => r.file("4", "pid").endsWith("\n"));
    // Killed before its command runs, it would be a failed launch.
    await found(() => r.file("4", "stdout"));
    await r.agent.close();
    process.kill(-Number.parseInt(r.file("4", "pid"), 10), "SIGKILL");
    await r.start();
    expect(await r.server.end("4")).toMatchObject({ state: pb.AllocationState.FAILED, reason: "lost" });
  });

  test("a restarted agent continues a stop and a walltime", async () => {
    r.server.run({ allocationId: "5", entrypoint: "trap '' TERM; echo ready; while :; do sleep 0.1; done" });
    await found(() => r.file("5", "stdout"));
    r.server.stop({ allocationId: "5", graceSeconds: 1 });
    await found(() => existsSync(join(r.dataDir, "attempts/5.1/stop")));
    await r.restart();
    expect(await r.server.end("5")).toMatchObject({ reason: "stopped" });
    r.server.run({ allocationId: "6", entrypoint: "sleep 1000", walltimeSeconds: 1, graceSeconds: 1 });
    await r.server.running("6");
    await found(() => r.file("6", "pid").endsWith("\n"));
    await r.restart();
    expect(await r.server.end("6")).toMatchObject({ reason: "walltime_exceeded" });
  });

  test("a data directory of another agent is refused", async () => {
    await expect(r.start()).rejects.toThrow("another agent is using the data directory");
  });

  test("an order that was written but not started is started once", async () => {
    await r.agent.close();
    mkdirSync(join(r.dataDir, "attempts/7.1"));
    const order = { allocationId: "7", attempt: 1, entrypoint: "echo late" };
    const bootId = discoverBootId();
    writeFileSync(join(r.dataDir, "attempts/7.1/order.json"), JSON.stringify({ bootId, arrivedAtMs: 1, order }));
    mkdirSync(join(r.dataDir, "attempts/8.1"));
    writeFileSync(
      join(r.dataDir, "attempts/8.1/order.json"),
      JSON.stringify({ bootId: "other", arrivedAtMs: 1, order }),
    );
    await r.start();
    expect(await r.server.end("7")).toMatchObject({ state: pb.AllocationState.COMPLETED });
    expect(r.file("7", "stdout")).toBe("late\n");
    expect(await r.server.end("8")).toMatchObject({ reason: "lost" });
  });

  test("a restarted agent empties a control group of no known attempt", async () => {
    const isolation = detectIsolation({ nodeId: "n1", dataDir: realpathSync(r.dataDir) }, directFiles);
    const place = { key: "77.1", dir: join(r.dataDir, "attempts/77.1"), leader: null };
    const joinBy = await isolation.prepare(place);
    if (joinBy === "") return expect([offered("cgroup2"), offered("cgroup1")]).toEqual([false, false]);
    const orphan = spawn("sleep", ["1000"], { stdio: "ignore" });
    const gone = new Promise((resolve) => orphan.once("exit", resolve));
    writeFileSync(joinBy, String(orphan.pid));
    await r.restart();
    await gone;
    // But for the one in which a process waits for the next attempt.
    expect((await isolation.groups()).filter((name) => !name.startsWith("w"))).toEqual([]);
  });

  test("reports are buffered while the server is unreachable, and the newest is sent", async () => {
    r.server.run({ allocationId: "9", entrypoint: "sleep 0.3; exit 5" });
    await r.server.running("9");
    const port = Number(r.server.address.split(":")[1]);
    await r.server.close();
    await found(() => r.file("9", "exit"));
    const second = await fakeServer(port);
    expect(await second.end("9")).toMatchObject({ exitCode: 5 });
    expect(second.reports.filter((report) => report.state === pb.AllocationState.RUNNING)).toEqual([]);
    await second.close();
  });
});

test.each([
  ["in this boot", (): string => discoverBootId()],
  ["before a boot", (): string => "another-boot"],
])("the number of a wrapper that died %s may be another's by now: that one lives on", async (_name, bootOf) => {
  const r = await rig({ isolation: "process_group" });
  await r.agent.close();
  const bystander = spawn("sleep", ["1000"], { stdio: "ignore", detached: true });
  const pid = bystander.pid ?? 0;
  const dir = join(realpathSync(r.dataDir), "attempts/9.1");
  const child = spawn("sleep", ["1000"], { stdio: "ignore", env: { ...process.env, LATTICE_ATTEMPT_DIR: dir } });
  const childGone = new Promise((resolve) => child.once("exit", resolve));
  mkdirSync(dir);
  const order = { allocationId: "9", attempt: 1, entrypoint: "sleep 1000" };
  writeFileSync(join(dir, "order.json"), JSON.stringify({ bootId: bootOf(), arrivedAtMs: 1, order }));
  writeFileSync(join(dir, "pid"), `${pid}\n`);
  try {
    await r.start();
    expect(await r.server.end("9")).toMatchObject({ reason: "lost" });
    // Processes with the attempt's marker are still found and ended.
    await childGone;
    expect(alive(pid)).toBe(true);
  } finally {
    bystander.kill("SIGKILL");
    await r.close();
  }
});

test("workloads end with the agent when configured", async () => {
  const r = await rig({ options: { killWorkloadsOnExit: true } });
  r.server.run({ allocationId: "1", entrypoint: "echo $$; sleep 1000" });
  const pid = Number(await found(() => r.file("1", "stdout")));
  await r.agent.close();
  expect(alive(pid)).toBe(false);
  expect(await r.server.end("1")).toMatchObject({ reason: "stopped" });
  await r.start();
  await r.close();
});

test("kill -9 of the agent: the workload continues, and the next agent reports its exit", async () => {
  const r = await rig({ options: { killWorkloadsOnExit: false } });
  await r.agent.close();
  await found(() => r.server.connected() === 0);
  const program = join(r.dataDir, "lattice-agent.mjs");
  buildSync({
    entryPoints: [join(import.meta.dirname, "../../src/main.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    outfile: program,
    banner: { js: 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);' },
  });
  // A root agent finds its native programs next to itself.
  for (const name of ["lattice-files", "lattice-mounts"])
    copyFileSync(join(import.meta.dirname, "../../dist", name), join(r.dataDir, name));
  const dataDir = join(r.dataDir, "data");
  const begin = () =>
    spawn(
      process.execPath,
      [program, "--user-mapping", "none", "--node-id", "n9", "--server", r.server.address, "--data-dir", dataDir],
      {
        stdio: ["ignore", "ignore", process.env.AGENT_TEST_LOG === undefined ? "ignore" : "inherit"],
      },
    );
  const first = begin();
  await found(() => r.server.connected() === 1);
  r.server.run({
    allocationId: "50",
    entrypoint: "echo start; while [ ! -e go ]; do sleep 0.05; done; echo done; exit 4",
  });
  await r.server.running("50");
  first.kill("SIGKILL");
  await found(() => r.server.connected() === 0);
  const second = begin();
  await found(() => r.server.connected() === 1);
  r.server.run({ allocationId: "50", entrypoint: "echo again" });
  writeFileSync(join(dataDir, "attempts/50.1/go"), "");
  expect(await r.server.end("50")).toMatchObject({ reason: "exit_code", exitCode: 4 });
  r.server.openLogs({ streamId: "s", allocationId: "50", stream: pb.LogStream.STDOUT });
  await found(() => r.server.logs.get("s")?.ended);
  expect(r.server.logs.get("s")?.text).toBe("start\ndone\n");
  const gone = new Promise((resolve) => second.once("exit", resolve));
  second.kill("SIGTERM");
  expect(await gone).toBe(0);
  await r.start();
  await r.close();
});
