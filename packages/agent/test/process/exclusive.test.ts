// One attempt runs at a time: a new order waits until the older attempt is cleaned up, also over a restart of the agent,
// and can be stopped or forgotten while it waits.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";

/** Ends only on request, whatever signal comes first; records its start and end. */
const STUBBORN =
  "trap '' TERM; echo begin >>$SHARED/times; echo ready; while [ ! -e go ]; do sleep 0.02; done; echo end >>$SHARED/times";
const QUICK = "echo second >>$SHARED/times";

describe("one attempt at a time", () => {
  let r: Rig;
  beforeEach(async () => {
    r = await rig({ options: { killWorkloadsOnExit: false } });
  });
  afterEach(async () => {
    for (const one of held()) r.server.stop({ ...one, graceSeconds: 1 });
    await found(() => r.agent.live() === 0);
    await r.close();
  });
  const held = () =>
    r.server.hellos.at(-1)?.attempts.map(({ allocationId, attempt }) => ({ allocationId, attempt })) ?? [];
  const states = () =>
    Object.fromEntries(r.server.hellos.at(-1)?.attempts.map((a) => [`${a.allocationId}.${a.attempt}`, a.state]) ?? []);
  const variables = () => ({ SHARED: r.dataDir });
  const times = () => readFileSync(join(r.dataDir, "times"), "utf8").trim().split("\n");
  const onDisk = (key: string, file: string): boolean => existsSync(join(r.dataDir, "attempts", key, file));

  async function stopping(): Promise<void> {
    r.server.run({ allocationId: "1", entrypoint: STUBBORN, variables: variables() });
    await found(() => r.file("1", "stdout"));
    r.server.stop({ allocationId: "1", graceSeconds: 20 });
    await found(() => onDisk("1.1", "stop"));
  }

  function release(): void {
    writeFileSync(join(r.dataDir, "attempts/1.1/go"), "");
  }

  async function reconnect(): Promise<void> {
    const before = r.server.hellos.length;
    r.server.disconnect();
    await found(() => r.server.hellos.length > before && r.server.connected() === 1);
  }

  test("a new attempt starts when the attempt in its grace period has ended", async () => {
    await stopping();
    r.server.run({ allocationId: "1", attempt: 2, entrypoint: QUICK, variables: variables() });
    r.server.run({ allocationId: "2", entrypoint: "echo third >>$SHARED/times", variables: variables() });
    await found(() => onDisk("2.1", "order.json"));
    await reconnect();
    const { RUNNING, STAGING } = pb.AllocationState;
    expect(states()).toEqual({ "1.1": RUNNING, "1.2": STAGING, "2.1": STAGING });
    expect([onDisk("1.2", "pid"), onDisk("2.1", "pid")]).toEqual([false, false]);
    release();
    await r.server.end("2");
    expect(times()).toEqual(["begin", "end", "second", "third"]);
    expect((await r.server.end("1", 1)).reason).toBe("stopped");
    expect((await r.server.end("1", 2)).state).toBe(pb.AllocationState.COMPLETED);
  });

  test("a waiting attempt can be stopped or forgotten and never starts", async () => {
    await stopping();
    for (const allocationId of ["2", "3"]) r.server.run({ allocationId, entrypoint: QUICK, variables: variables() });
    await found(() => onDisk("3.1", "order.json"));
    r.server.stop({ allocationId: "2" });
    const end = await r.server.end("2");
    expect(end).toMatchObject({ reason: "stopped", message: expect.stringContaining("before it began") });
    r.server.send({ case: "forget", value: create(pb.ForgetOrderSchema, { allocationId: "3", attempt: 1 }) });
    await found(() => existsSync(join(r.dataDir, "ended/3.1")));
    expect(r.agent.live()).toBe(1);
    release();
    await r.server.end("1");
    await found(() => r.agent.live() === 0);
    expect(times()).toEqual(["begin", "end"]);
  });

  test("a waiting attempt keeps its place after a restart of the agent", async () => {
    await stopping();
    r.server.run({ allocationId: "9", entrypoint: QUICK, variables: variables() });
    await found(() => onDisk("9.1", "order.json"));
    r.server.run({ allocationId: "2", script: "echo third >>$SHARED/times", variables: variables() });
    await found(() => onDisk("2.1", "order.json"));
    await r.restart();
    await found(() => r.agent.connected() === 1);
    const { RUNNING, STAGING } = pb.AllocationState;
    expect(states()).toEqual({ "1.1": RUNNING, "9.1": STAGING, "2.1": STAGING });
    expect([onDisk("9.1", "pid"), onDisk("2.1", "pid")]).toEqual([false, false]);
    release();
    await r.server.end("2");
    expect(times()).toEqual(["begin", "end", "second", "third"]);
  });
});
