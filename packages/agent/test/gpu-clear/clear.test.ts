// GPU memory that is cleared when an attempt leaves, against a stand-in for CUDA in C that is compiled here.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { GpuUnit } from "../../src/discovery/gpus/base/inventory.ts";
import { gpuClearing, isClearable } from "../../src/gpu-clear/clear.ts";
import { DEFAULT_DISCOVERY } from "../../src/options/discovery.ts";
import { found } from "../fake-server.ts";
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
  process.env.CUDA_FAKE_DIARY = diary;
});
afterEach(() => {
  rmSync(diary, { force: true });
  delete process.env.CUDA_FAKE;
  delete process.env.NVML_FAKE;
});
afterAll(() => {
  delete process.env.CUDA_FAKE_DIARY;
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

const cleared = (): readonly string[] =>
  existsSync(diary) ? readFileSync(diary, "utf8").trim().split("\n").sort() : [];

const unit = (index: number, more: Partial<GpuUnit> = {}): GpuUnit => ({
  ...{ index, vendor: "nvidia", model: "H100", uuid: `GPU-${index}`, memoryBytes: 1, pci: "", device: `195:${index}` },
  ...{ partitioned: false, capability: "", firmware: "", temperatureC: null, fault: "" },
  ...more,
});

const NEVER = new AbortController().signal;

test("GPU memory is zeroed completely; broken and AMD GPUs are refused", async () => {
  await gpuClearing(library, log)?.(unit(1), NEVER);
  expect(cleared()).toEqual(["GPU-1 2000 of 2000"]);
  const units = [unit(0), unit(2, { fault: "it is gone" }), unit(3, { vendor: "amd" })];
  expect(units.map(isClearable)).toEqual([true, false, false]);
});

test("a cancelled clearing leaves no process", async () => {
  process.env.CUDA_FAKE = "hang";
  const stop = new AbortController();
  const under = gpuClearing(library, log)?.(unit(0), stop.signal);
  setTimeout(() => stop.abort(), 100);
  await expect(under).rejects.toThrow("GPU 0 cannot be cleared: it was stopped");
  await expect(gpuClearing(library, log)?.(unit(0), stop.signal)).rejects.toThrow("cancelled");
});

test.each([
  ["no-driver", "GPU 0 cannot be cleared: cuInit answers 100"],
  ["broken-gpu", "GPU 0 cannot be cleared: cuCtxCreate_v2 answers 719"],
])("a faulty driver (%s) is reported with its error", async (trouble, words) => {
  process.env.CUDA_FAKE = trouble;
  await expect(gpuClearing(library, log)?.(unit(0), NEVER)).rejects.toThrow(words);
});

test("no process starts without the library or after cancellation", () => {
  expect(gpuClearing("none", log)).toBeNull();
  const missing = gpuClearing("/no/such/libcuda.so", log);
  return expect(missing?.(unit(0), NEVER)).rejects.toThrow(/GPU 0 cannot be cleared/);
});

const settled = (lines: readonly string[]) => found(() => cleared().join() === lines.join() || undefined);

test("the GPUs of an ended attempt are cleared: those of its share, or all of an exclusive node", async () => {
  process.env.NVML_FAKE = "gpus=2";
  const r = await rig({
    options: {
      discovery: { ...DEFAULT_DISCOVERY, nvml },
      software: { ...DEFAULT_SOFTWARE, cudaLibrary: library },
    },
  });
  r.server.run({ allocationId: "1", entrypoint: "true", limits: { gpuCount: 1 } });
  await r.server.end("1");
  await settled(["GPU-00000000 2000 of 2000"]);
  rmSync(diary);
  r.server.run({ allocationId: "2", entrypoint: "true" });
  await r.server.end("2");
  await settled(["GPU-00000000 2000 of 2000", "GPU-00000001 2000 of 2000"]);
  rmSync(diary);
  // An attempt without GPUs has nothing to release.
  r.server.run({ allocationId: "3", entrypoint: "true", limits: { cpuCores: 1 } });
  await r.server.end("3");
  // Nor has one that never began: others may be using all of them.
  r.server.run({ allocationId: "4", entrypoint: "true", limits: { gpuCount: 3 } });
  await r.server.end("4");
  r.server.run({ allocationId: "5", entrypoint: "true", mounts: [{ source: "/no/such", target: "/data/x" }] });
  await r.server.end("5");
  expect(cleared()).toEqual([]);
  expect(r.server.hellos[0]?.capabilities?.runtimes).toContain("gpu-clear:nvidia");
  await r.close();
});

test("the next job of the same user does not wait; a job of another user waits for the clearing, also after a restart", async () => {
  process.env.NVML_FAKE = "gpus=1";
  const r = await rig({
    options: {
      discovery: { ...DEFAULT_DISCOVERY, nvml },
      software: { ...DEFAULT_SOFTWARE, cudaLibrary: library },
    },
  });
  const one = "GPU-00000000 2000 of 2000";
  const again = async (): Promise<void> => {
    await r.restart();
    await found(() => r.agent.connected() === 1);
  };
  const job = (allocationId: string, user: string) => {
    r.server.run({ allocationId, entrypoint: "true", user, tenant: "t" });
    return r.server.end(allocationId);
  };
  await job("1", "ada");
  await job("2", "ada");
  expect(cleared()).toEqual([]);
  await job("3", "bob");
  expect(cleared()).toEqual([one]);
  // The last user is known to a restarted agent, from the file alone.
  await again();
  await job("4", "bob");
  expect(cleared()).toEqual([one]);
  await again();
  await job("5", "ada");
  expect(cleared()).toEqual([one, one]);
  // A GPU that cannot be cleared is not given to another user.
  process.env.CUDA_FAKE = "broken-gpu";
  expect(await job("6", "eve")).toMatchObject({
    reason: "prologue_failed",
    message: expect.stringContaining("GPU 0 cannot be cleared: cuCtxCreate_v2 answers 719"),
  });
  await r.close();
});
