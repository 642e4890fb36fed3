// A share of a node: memory and CPU are really limited, and an OOM kill is reported
// as such, also by an agent that was away.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MemoryRoom, memoryPolicyWords } from "../../src/host/memory-policy.ts";
import { found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";

/** Allocates this many megabytes and holds them. */
const eat = (megabytes: number): string =>
  `node -e 'const a=[];for(let i=0;i<${megabytes};i++)a.push(Buffer.alloc(1<<20,1));setTimeout(()=>{},100)'`;

describe("shares of a node", () => {
  let r: Rig;
  let next = 800;
  const id = (): string => String(next++);
  beforeAll(async () => {
    r = await rig();
  });
  afterAll(() => r.close());

  const capabilities = (): readonly string[] => r.server.hellos[0]?.capabilities?.runtimes ?? [];

  test("the node reports its runtimes and limits", () => {
    expect(capabilities()).toContain("bare");
    expect(capabilities()).toContain("limit:memory");
  });

  test("exceeding the memory of a share is reported as oom", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: eat(400), limits: { memoryGb: 0.15, cpuCores: 1 } });
    const report = await r.server.end(a);
    expect(report).toMatchObject({ state: pb.AllocationState.FAILED, reason: "oom", exitCode: 137 });
    expect(report.message).toBe("out of memory: the kernel ended 1 of its processes");
  });

  test("the same program completes within its share, next to another", async () => {
    const [a, b] = [id(), id()];
    r.server.run({ allocationId: a, entrypoint: "sleep 1", limits: { memoryGb: 1 } });
    r.server.run({ allocationId: b, entrypoint: eat(50), limits: { memoryGb: 1, cpuCores: 2 } });
    await r.server.running(b);
    expect(await r.server.end(b)).toMatchObject({ state: pb.AllocationState.COMPLETED });
    expect(await r.server.end(a)).toMatchObject({ state: pb.AllocationState.COMPLETED });
  });

  test("shares have distinct GPUs, and a request beyond them is refused", async () => {
    const other = await rig({ options: { hardware: { features: [], gpuCount: 3, gpuType: "test" } } });
    const go = join(other.dataDir, "go");
    const entrypoint = `echo [$CUDA_VISIBLE_DEVICES]; until [ -e ${go} ]; do sleep 0.05; done`;
    for (const [allocationId, gpuCount] of [
      ["901", 2],
      ["902", 1],
      ["903", 0],
    ] as const) {
      other.server.run({ allocationId, entrypoint, limits: { gpuCount } });
      await other.server.running(allocationId);
    }
    other.server.run({ allocationId: "904", entrypoint, limits: { gpuCount: 1 } });
    expect((await other.server.end("904")).message).toContain("(devices): 1 GPUs requested, and 0 of 3 are free");
    writeFileSync(go, "");
    for (const id of ["901", "902", "903"]) await other.server.end(id);
    expect(["901", "902", "903"].map((id) => other.file(id, "stdout"))).toEqual(["[0,1]\n", "[2]\n", "[]\n"]);
    await other.close();
  });

  test("an OOM kill of an exclusive attempt is reported as oom and not attributed to the next", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: `cat /proc/self/cgroup; sleep 1; ${eat(400)}` });
    const path = await found(() => /^\d+:memory:(.+)$/m.exec(r.file(a, "stdout"))?.[1]);
    writeFileSync(`/sys/fs/cgroup/memory${path}/memory.limit_in_bytes`, String(150 * 1024 ** 2));
    expect(await r.server.end(a)).toMatchObject({ reason: "oom" });
    const b = id();
    r.server.run({ allocationId: b, entrypoint: "kill -KILL $$" });
    expect(await r.server.end(b)).toMatchObject({ reason: "signal", exitCode: 137 });
  });

  test("a job that kills itself is not out of memory", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "kill -KILL $$" });
    expect(await r.server.end(a)).toMatchObject({ reason: "signal", exitCode: 137 });
  });

  test("an OOM kill while the agent was away is reported as oom", async () => {
    const other = await rig({ options: { killWorkloadsOnExit: false } });
    other.server.run({ allocationId: "900", entrypoint: `sleep 0.5; ${eat(400)}`, limits: { memoryGb: 0.15 } });
    await other.server.running("900");
    await other.agent.close();
    await found(() => other.file("900", "exit"));
    await other.start();
    expect(await other.server.end("900")).toMatchObject({ reason: "oom" });
    await other.close();
  });
});

describe("memory policies", () => {
  /** Two sockets, and an expander behind the second. */
  const two = [
    { numa: 0, cpus: [0, 1] },
    { numa: 1, cpus: [2, 3] },
  ];
  const place = { domains: [...two, { numa: 2, cpus: [] }], unified: false, numactl: true };
  const all = { cpus: null, memory: null, cxl: false };
  const second = { cpus: [2], memory: null, cxl: false };
  test.each<[string, MemoryRoom, string[]]>([
    ["local", all, ["--localalloc"]],
    ["interleave", all, ["--interleave=0,1"]],
    ["interleave", { ...all, cxl: true }, ["--interleave=0,1,2"]],
    ["preferred", all, ["--preferred=0"]],
    ["preferred", second, ["--preferred=1"]],
    ["bind", all, ["--membind=0,1"]],
    ["bind", second, ["--membind=1"]],
    ["bind", { ...second, cxl: true }, ["--membind=1,2"]],
    ["bind", { ...second, memory: [1] }, []],
    ["interleave", { cpus: [0, 2], memory: [0, 1], cxl: true }, ["--interleave=0,1"]],
    ["", all, []],
  ])("%j in %j", (policy, room, flags) =>
    expect(memoryPolicyWords(policy, place, room)).toEqual(
      flags.length === 0 ? [] : ["/usr/bin/numactl", ...flags, "--"],
    ),
  );
  test("a node with one domain needs no policy", () => {
    expect(memoryPolicyWords("bind", { ...place, unified: true }, all)).toEqual([]);
    expect(memoryPolicyWords("bind", { ...place, domains: two.slice(0, 1) }, all)).toEqual([]);
  });
  test("a node without numactl fails the prologue with that reason", () => {
    expect(() => memoryPolicyWords("bind", { ...place, numactl: false }, all)).toThrow("needs numactl");
    expect(() => memoryPolicyWords("most", place, all)).toThrow("not known");
  });
  test.each([
    ["local", /policy: (local|default|preferred)/],
    ["preferred", /preferred node: 0|policy: preferred/],
    ["bind", /membind: 0\b/],
    ["interleave", /interleavemask: 0|policy: interleave/],
  ])("%s by the real numactl, in the part of a node that this machine has", (policy, says) => {
    const own = { cpus: [0], memory: [0, 2], cxl: false };
    const [program = "", ...words] = memoryPolicyWords(policy, place, own);
    expect(execFileSync(program, [...words, "/usr/bin/numactl", "--show"], { encoding: "utf8" })).toMatch(says);
  });
});
