// Which part of a shared node an attempt has, and that it is really kept to it.

import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { create } from "@bufbuild/protobuf";
import type { GpuTopology, MemoryTopology } from "@lattice/core";
import { pb } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { detectIsolation, detectLimits } from "../../src/host/isolation/detect.ts";
import { gpuVariables, type NodeInventory, nodeShares, otherDevices } from "../../src/host/isolation/node-shares.ts";
import { unit } from "../discovery/gpu-unit.ts";

const GB = 2 ** 30;
const units = [0, 1, 2, 3].map((index) => unit(index));
const [FAST, SLOW] = [50_000, 30_000];
/** 0 with 1 and 2 with 3 by NVLink. */
const gpuTopology: GpuTopology = {
  gpus: units.map(({ index, vendor, model, memoryBytes, partitioned }) => ({
    ...{ index, vendor, model, memoryBytes, partitioned },
  })),
  links: [0, 1, 2, 3].flatMap((a) =>
    [0, 1, 2, 3]
      .filter((b) => b > a)
      .map((b) => ({ a, b, kind: "pcie" as const, bandwidthMBps: a >> 1 === b >> 1 ? FAST : SLOW })),
  ),
  nicAffinity: { 2: "mlx5_1", 3: "mlx5_1" },
};
const memoryTopology: MemoryTopology = {
  domains: [
    { id: 0, kind: "dram", capacityBytes: 64 * GB, numaNode: 0, cpus: [0, 1, 2, 3], gpus: [0, 1] },
    { id: 1, kind: "dram", capacityBytes: 64 * GB, numaNode: 1, cpus: [4, 5, 6, 7], gpus: [2, 3] },
  ],
  interconnects: [{ a: 0, b: 1, kind: "numa_link", bandwidthMBps: 40_000 }],
};
const whole: NodeInventory = { gpuCount: 4, units, gpuTopology, memoryTopology };
const share = (gpuCount: number, cpuCores = 0, memoryGb = 0) =>
  create(pb.RunLimitsSchema, { gpuCount, cpuCores, memoryGb });

describe("shares of a node", () => {
  test("a share has cores, memory and GPUs of one domain, the one with an adapter first", () => {
    const shares = nodeShares(() => whole);
    expect(shares.take("1.1", share(1, 2, 8))).toEqual({ gpus: [2], cpus: [4, 5], memory: [1] });
    expect(shares.take("2.1", share(2, 2, 8))).toEqual({ gpus: [0, 1], cpus: [0, 1], memory: [0] });
    // The rest of both domains.
    expect(shares.take("3.1", share(1, 4, 100))).toEqual({ gpus: [3], cpus: [2, 3, 6, 7], memory: [0, 1] });
    expect(() => shares.take("4.1", share(1))).toThrow("1 GPUs requested, and 0 of 4 are free");
    shares.release("2.1");
    expect(shares.take("4.1", share(1, 1)).gpus).toEqual([0]);
  });

  test("without known domains a share gets the GPUs with the best links", () => {
    const shares = nodeShares(() => ({ gpuCount: 4, units, gpuTopology }));
    shares.keep("1.1", { gpus: [1], cpus: null, memory: null });
    expect(shares.take("2.1", share(2, 2))).toEqual({ gpus: [2, 3], cpus: null, memory: null });
  });

  test("a repeated request gets the same share, by number when only a flag states GPUs", () => {
    const shares = nodeShares(() => ({ gpuCount: 3, units: [] }));
    expect(shares.take("1.1", share(2)).gpus).toEqual([0, 1]);
    expect(shares.take("1.1", share(2)).gpus).toEqual([0, 1]);
    expect(shares.take("2.1", share(0)).gpus).toEqual([]);
  });

  test("GPUs are named by number, and by UUID when partitioned", () => {
    expect(gpuVariables(whole, [2, 3])).toMatchObject({
      CUDA_VISIBLE_DEVICES: "2,3",
      ROCR_VISIBLE_DEVICES: "2,3",
      CUDA_DEVICE_ORDER: "PCI_BUS_ID",
    });
    expect(gpuVariables(whole, []).CUDA_VISIBLE_DEVICES).toBe("");
    const slices = [unit(0, { uuid: "MIG-a", partitioned: true }), unit(1, { uuid: "MIG-b", partitioned: true })];
    expect(gpuVariables({ units: slices }, [1]).CUDA_VISIBLE_DEVICES).toBe("MIG-b");
  });

  test("devices of other shares are hidden, except the GPU of a slice", () => {
    expect(otherDevices(whole, [1])).toEqual(["195:0", "195:2", "195:3"]);
    expect(otherDevices({ gpuCount: 2, units: [] }, [1])).toEqual(["195:0"]);
    const cut = { gpuCount: 3, units: [unit(0), unit(1, { device: "195:1" }), unit(2, { device: "195:1" })] };
    expect(otherDevices(cut, [2])).toEqual(["195:0"]);
  });
});

test("the kernel restricts an attempt to its cores", async () => {
  const place = { nodeId: "pins", dataDir: tmpdir() };
  const limits = await detectLimits(place, detectIsolation(place, directFiles));
  expect(limits.controllers).toContain("cpuset");
  const files = await limits.prepare("1.1", share(0, 1, 1));
  try {
    await limits.pin("1.1", [1], [0]);
    const folder = files.find((file) => file.includes("/cpuset/")) ?? "";
    const cores = (): string => readFileSync(folder.replace(/tasks$/, "cpuset.cpus"), "utf8").trim();
    expect(cores()).toBe("1");
    // Terminals and tasks ask for the files again.
    expect(await limits.prepare("1.1", share(0, 1, 1))).toEqual(files);
    expect(cores()).toBe("1");
  } finally {
    await limits.remove("1.1");
    await limits.close();
  }
});
