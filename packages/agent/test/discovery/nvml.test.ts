// NVML by foreign function calls, against a stand-in in C that is compiled here: healthy output and driver failures.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { askNvml, askNvmlLoad, parseInventory, parseLoad } from "../../src/discovery/gpus/ask-nvml.ts";
import type { GpuInventory } from "../../src/discovery/gpus/base/inventory.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-nvml-"));
const library = join(folder, "libnvidia-ml.so.1");
const stub = join(folder, "libempty.so");

beforeAll(() => {
  execFileSync("gcc", ["-shared", "-fPIC", "-o", library, join(import.meta.dirname, "fake-nvml.c")]);
  writeFileSync(join(folder, "empty.c"), "int nvmlInit_v2(void) { return 0; }\n");
  execFileSync("gcc", ["-shared", "-fPIC", "-o", stub, join(folder, "empty.c")]);
});
afterEach(() => {
  delete process.env.NVML_FAKE;
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

async function ask(words: string, deadlineMs?: number): Promise<GpuInventory> {
  process.env.NVML_FAKE = words;
  const found = await askNvml(library, deadlineMs);
  if (found === null) throw new Error("no driver was queried");
  return found;
}

describe("a node with NVIDIA GPUs", () => {
  it("devices and links are reported", async () => {
    const { driver, units, ties, faults } = await ask("gpus=4");
    expect(driver).toBe("580.159.04");
    expect(faults).toEqual([]);
    expect(units[2]).toEqual({
      index: 2,
      vendor: "nvidia",
      model: "H100",
      uuid: "GPU-00000002",
      memoryBytes: 80 * 2 ** 30,
      pci: "0000:12:00.0",
      device: "195:2",
      partitioned: false,
      capability: "9.0",
      firmware: "96.00.61",
      temperatureC: 32,
      fault: "",
    });
    const kinds = new Map(ties.map(({ a, b, kind, bandwidthMBps }) => [`${a}-${b}`, `${kind} ${bandwidthMBps}`]));
    expect(kinds.get("0-1")).toBe("nvlink 50000");
    expect(kinds.get("0-2")).toBe("pcie 0");
    expect(ties).toHaveLength(6);
  });

  it("a switch, its speed and separate sockets are reported", async () => {
    const { ties } = await ask("gpus=8 switch");
    expect(ties.every(({ kind, bandwidthMBps }) => kind === "nvswitch" && bandwidthMBps === 18 * 26_562)).toBe(true);
    const apart = await ask("gpus=8");
    expect(apart.ties.find(({ a, b }) => a === 0 && b === 7)).toMatchObject({ kind: "pcie", far: true });
  });

  it("slices replace the GPUs that they are part of", async () => {
    const { units, ties } = await ask("gpus=2 mig=3");
    expect(units.map(({ index, uuid, partitioned }) => [index, uuid, partitioned])).toEqual([
      [0, "MIG-00000000-0", true],
      [1, "MIG-00000000-1", true],
      [2, "MIG-00000000-2", true],
      [3, "MIG-00000001-0", true],
      [4, "MIG-00000001-1", true],
      [5, "MIG-00000001-2", true],
    ]);
    expect(units[0]?.memoryBytes).toBe(10 * 2 ** 30);
    expect(units[4]?.slice).toEqual({ gpuInstance: 8, computeInstance: 0 });
    expect(ties).toEqual([]);
  });
});

describe("a faulty driver", () => {
  it.each([
    ["gpus=2 ecc=3", "GPU 0: 3 uncorrectable memory errors"],
    ["gpus=2 lost", "GPU 0: GPU is lost"],
    ["gpus=2 gone", "GPU 1 does not answer: GPU is lost"],
    ["gpus=2 init", "NVML does not start: Driver Not Loaded"],
  ])("%s is reported as a fault", async (words, fault) => {
    expect((await ask(words)).faults).toEqual([fault]);
  });

  it("does not block the agent", async () => {
    expect((await ask("gpus=1 hang", 1_500)).faults).toEqual(["NVML cannot be asked: no answer in 1.5 s"]);
  });

  it("is distinguished from a library that is not NVML and from a missing one", async () => {
    expect((await askNvml(stub))?.faults[0]).toMatch(/lacks nvmlShutdown, nvmlDeviceGetCount_v2/);
    expect((await askNvml(join(folder, "nowhere.so")))?.faults[0]).toMatch(/^NVML cannot be used: /);
    expect(await askNvml("none")).toBeNull();
    expect(parseInventory("{").faults).toHaveLength(1);
    expect(parseInventory("{}").faults).toHaveLength(1);
  });
});

describe("GPU utilization", () => {
  const load = (words: string, deadlineMs?: number) => {
    process.env.NVML_FAKE = words;
    return askNvmlLoad(library, deadlineMs);
  };

  it("is reported by GPU, from 0 to 1", async () => {
    expect(await load("gpus=3 load=40")).toEqual([0.4, 0.41, 0.42]);
  });

  it("utilization is unknown for slices, missing GPUs and faulty drivers, and without a library", async () => {
    expect(await load("gpus=2 load=40 mig=2")).toEqual([null, null]);
    expect(await load("gpus=2 load=40 gone")).toEqual([0.4, null]);
    expect(await load("init gpus=2 load=40")).toEqual([]);
    expect(await load("hang", 500)).toBeNull();
    expect(await askNvmlLoad("none")).toBeNull();
    expect(parseLoad('[0.5, 7, "x"]')).toEqual([0.5, null, null]);
    expect(parseLoad("{}")).toBeNull();
    expect(parseLoad("no")).toBeNull();
  });
});
