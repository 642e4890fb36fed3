// Reads everything that a node reports about its GPUs from NVML. An unsupported query leaves its field empty; only a
// library that does not start and a GPU that does not answer at all are faults.

import { type GpuInventory, type GpuUnit, modelName, NO_GPUS } from "../base/inventory.ts";
import { LOST, type Nvml, OK } from "./library.ts";
import { coherentSpeed, type SeenLinks, tiesOf } from "./links.ts";
import { pciOf } from "./pci.ts";

/** More than any node has. */
const MAX_GPUS = 256;
const TEXT_BYTES = 96;
/** Major number of /dev/nvidia0 and the like. */
const DEVICE_MAJOR = 195;
const MEMORY_INFO_BYTES = 24;
/** NVML_MEMORY_ERROR_TYPE_UNCORRECTED, and counted since the driver was loaded. */
const UNCORRECTED = 1;
const VOLATILE = 0;

export function readNvml(nvml: Nvml): GpuInventory {
  const started = nvml.call("nvmlInit_v2");
  if (started !== OK) return { ...NO_GPUS, faults: [`NVML does not start: ${nvml.explain(started)}`] };
  try {
    return readAll(nvml);
  } finally {
    nvml.call("nvmlShutdown");
  }
}

function readAll(nvml: Nvml): GpuInventory {
  const driver = nvml.text("nvmlSystemGetDriverVersion", TEXT_BYTES) ?? "";
  const count = Math.min(nvml.number("nvmlDeviceGetCount_v2") ?? 0, MAX_GPUS);
  const units: GpuUnit[] = [];
  const seen: SeenLinks[] = [];
  const faults: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const out: unknown[] = [null];
    const code = nvml.call("nvmlDeviceGetHandleByIndex_v2", number, out);
    const handle = out[0];
    if (code !== OK) {
      faults.push(`GPU ${number} does not answer: ${nvml.explain(code)}`);
      continue;
    }
    const whole = describe(nvml, handle, units.length);
    const slices = slicesOf(nvml, handle).map((slice, n) => cut(nvml, whole, slice, units.length + n));
    if (slices.length === 0) seen.push({ handle, unit: whole });
    units.push(...(slices.length === 0 ? [whole] : slices));
  }
  for (const { index, fault } of units) if (fault !== "") faults.push(`GPU ${index}: ${fault}`);
  return { driver, units, ties: tiesOf(nvml, seen), coherentMBps: coherentSpeed(nvml, seen), faults };
}

function describe(nvml: Nvml, handle: unknown, index: number): GpuUnit {
  const major = [0];
  const minorPart = [0];
  const minor = nvml.number("nvmlDeviceGetMinorNumber", handle);
  const capable = nvml.call("nvmlDeviceGetCudaComputeCapability", handle, major, minorPart) === OK;
  return {
    index,
    vendor: "nvidia",
    model: modelName(nvml.text("nvmlDeviceGetName", TEXT_BYTES, handle) ?? ""),
    uuid: nvml.text("nvmlDeviceGetUUID", TEXT_BYTES, handle) ?? "",
    memoryBytes: memoryOf(nvml, handle),
    pci: pciOf(nvml, "nvmlDeviceGetPciInfo_v3", handle),
    device: minor === null ? "" : `${DEVICE_MAJOR}:${minor}`,
    partitioned: false,
    capability: capable ? `${major[0]}.${minorPart[0]}` : "",
    firmware: nvml.text("nvmlDeviceGetVbiosVersion", TEXT_BYTES, handle) ?? "",
    temperatureC: nvml.number("nvmlDeviceGetTemperature", handle, 0),
    fault: faultOf(nvml, handle),
  };
}

function memoryOf(nvml: Nvml, handle: unknown): number {
  const info = Buffer.alloc(MEMORY_INFO_BYTES);
  return nvml.call("nvmlDeviceGetMemoryInfo", handle, info) === OK ? Number(info.readBigUInt64LE(0)) : 0;
}

/** Errors that corrupt results or fail the next job; the driver handles lesser ones. */
function faultOf(nvml: Nvml, handle: unknown): string {
  const errors = [0];
  const code = nvml.call("nvmlDeviceGetTotalEccErrors", handle, UNCORRECTED, VOLATILE, errors);
  if (LOST.includes(code)) return nvml.explain(code);
  if (code === OK && Number(errors[0]) > 0) return `${Number(errors[0])} uncorrectable memory errors`;
  const failed = [0];
  const remapped = nvml.call("nvmlDeviceGetRemappedRows", handle, [0], [0], [0], failed);
  return remapped === OK && failed[0] !== 0 ? "rows of its memory could not be replaced" : "";
}

function slicesOf(nvml: Nvml, handle: unknown): unknown[] {
  const now = [0];
  if (nvml.call("nvmlDeviceGetMigMode", handle, now, [0]) !== OK || now[0] !== 1) return [];
  const most = nvml.number("nvmlDeviceGetMaxMigDeviceCount", handle) ?? 0;
  const slices: unknown[] = [];
  for (let n = 0; n < Math.min(most, MAX_GPUS); n += 1) {
    const out: unknown[] = [null];
    if (nvml.call("nvmlDeviceGetMigDeviceHandleByIndex", handle, n, out) === OK) slices.push(out[0]);
  }
  return slices;
}

const cut = (nvml: Nvml, whole: GpuUnit, handle: unknown, index: number): GpuUnit => ({
  ...whole,
  index,
  uuid: nvml.text("nvmlDeviceGetUUID", TEXT_BYTES, handle) ?? "",
  memoryBytes: memoryOf(nvml, handle),
  partitioned: true,
  ...sliceOf(nvml, handle),
});

function sliceOf(nvml: Nvml, handle: unknown): Pick<GpuUnit, "slice"> {
  const gpuInstance = nvml.number("nvmlDeviceGetGpuInstanceId", handle);
  const computeInstance = nvml.number("nvmlDeviceGetComputeInstanceId", handle);
  return gpuInstance === null || computeInstance === null ? {} : { slice: { gpuInstance, computeInstance } };
}
