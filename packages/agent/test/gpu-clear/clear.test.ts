// GPU memory that is cleared when an attempt leaves, against a stand-in for CUDA in C that is compiled here.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { GpuUnit } from "../../src/discovery/gpus/inventory.ts";
import { gpuClearing } from "../../src/gpu-clear/clear.ts";
import { DEFAULT_DISCOVERY } from "../../src/options.ts";
import { rig } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-cuda-"));
const library = join(folder, "libcuda.so.1");
const nvml = join(folder, "libnvidia-ml.so.1");
const diary = join(folder, "diary");
const log = pino({ level: "silent" });

beforeAll(() => {
  execFileSync("gcc", ["-shared", "-fPIC", "-o", library, join(import.meta.dirname, "fake-cuda.c")]);
  execFileSync("gcc", ["-shared", "-fPIC", "-o", nvml, join(import.meta.dirname, "..", "discovery", "fake-nvml.c")]);
  process.env.FAKE_CUDA_DIARY = diary;
});
afterEach(() => {
  rmSync(diary, { force: true });
  delete process.env.FAKE_CUDA;
  delete process.env.FAKE_NVML;
});
afterAll(() => {
  delete process.env.FAKE_CUDA_DIARY;
  rmSync(folder, { recursive: true, force: true });
});

const cleared = (): readonly string[] =>
  existsSync(diary) ? readFileSync(diary, "utf8").trim().split("\n").sort() : [];

const unit = (index: number, more: Partial<GpuUnit> = {}): GpuUnit => ({
  ...{ index, vendor: "nvidia", model: "H100", uuid: `GPU-${index}`, memoryBytes: 1, pci: "", device: `195:${index}` },
  ...{ partitioned: false, capability: "", firmware: "", temperatureC: null, fault: "" },
  ...more,
});

test("all of the memory of each GPU is zeroed; broken ones and those of others are left alone", async () => {
  const units = [unit(0), unit(1), unit(2, { fault: "it is gone" }), unit(3, { vendor: "amd" })];
  await gpuClearing(library, log)?.clear(units);
  expect(cleared()).toEqual(["GPU-0 2000 of 2000", "GPU-1 2000 of 2000"]);
});

test.each([
  ["no-driver", "GPU 0 cannot be cleared: cuInit answers 100"],
  ["broken-gpu", "GPU 0 cannot be cleared: cuCtxCreate_v2 answers 719"],
])("a driver in trouble (%s) is told in words", async (trouble, words) => {
  process.env.FAKE_CUDA = trouble;
  await expect(gpuClearing(library, log)?.clear([unit(0)])).rejects.toThrow(words);
});

test("without the library, or when it is not wanted, nothing is started", () => {
  expect(gpuClearing("none", log)).toBeNull();
  const missing = gpuClearing("/no/such/libcuda.so", log);
  return expect(missing?.clear([unit(0)])).rejects.toThrow(/GPU 0 cannot be cleared/);
});

test("an attempt gives its GPUs back cleared: a share its own, one that has the node all of them", async () => {
  process.env.FAKE_NVML = "gpus=2";
  const r = await rig({
    options: {
      discovery: { ...DEFAULT_DISCOVERY, nvml },
      software: { ...DEFAULT_SOFTWARE, cudaLibrary: library },
    },
  });
  r.server.run({ allocationId: "1", entrypoint: "true", limits: { gpuCount: 1 } });
  await r.server.end("1");
  expect(cleared()).toEqual(["GPU-00000000 2000 of 2000"]);
  rmSync(diary);
  r.server.run({ allocationId: "2", entrypoint: "true" });
  await r.server.end("2");
  expect(cleared()).toEqual(["GPU-00000000 2000 of 2000", "GPU-00000001 2000 of 2000"]);
  rmSync(diary);
  // One that asked for none of them has nothing to give back.
  r.server.run({ allocationId: "3", entrypoint: "true", limits: { cpuCores: 1 } });
  await r.server.end("3");
  // Nor has one that never began: others may be using all of them.
  r.server.run({ allocationId: "4", entrypoint: "true", limits: { gpuCount: 3 } });
  await r.server.end("4");
  r.server.run({ allocationId: "5", entrypoint: "true", mounts: [{ source: "/no/such", target: "/data/x" }] });
  await r.server.end("5");
  expect(cleared()).toEqual([]);
  await r.close();
});
