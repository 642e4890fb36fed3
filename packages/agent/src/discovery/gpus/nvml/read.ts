// Reads everything that a node reports about its GPUs from NVML. An unsupported query leaves its field empty; only a
// library that does not start and a GPU that does not answer at all are faults.

import { type GpuInventory, type GpuTie, type GpuUnit, modelName, NO_GPUS } from "../base/inventory.ts";
import { LOST, type Nvml, OK } from "./library.ts";
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

interface SeenLinks {
  readonly handle: unknown;
  readonly unit: GpuUnit;
}

const MAX_LINKS = 36;
/** NVML_NVLINK_DEVICE_TYPE_SWITCH. */
const TO_SWITCH = 2;
/** NVML_TOPOLOGY_SYSTEM: the path crosses sockets. */
const OVER_SOCKETS = 50;
/** NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, and those of the link between a CPU and its GPU. */
const NVLINK_SPEED = 90;
const C2C_COUNT = 170;
const C2C_SPEED = 172;
/** Megabytes a second and direction of one NVLink, by generation. */
const BY_GENERATION = [0, 20_000, 25_000, 25_000, 25_000, 50_000];

function tiesOf(nvml: Nvml, seen: readonly SeenLinks[]): GpuTie[] {
  const links = seen.map((one) => linksOf(nvml, one));
  const ties: GpuTie[] = [];
  for (const [i, one] of seen.entries()) {
    for (const [j, other] of seen.entries()) {
      if (j > i)
        ties.push({ a: one.unit.index, b: other.unit.index, ...between(nvml, [one, other], [links[i], links[j]]) });
    }
  }
  return ties;
}

interface Links {
  /** Megabytes a second to each GPU that is linked directly, by its address. */
  readonly direct: ReadonlyMap<string, number>;
  readonly switched: number;
}

type LinkPath = Pick<GpuTie, "kind" | "bandwidthMBps" | "far">;

function between(
  nvml: Nvml,
  [one, other]: readonly [SeenLinks, SeenLinks],
  links: readonly (Links | undefined)[],
): LinkPath {
  const direct = links[0]?.direct.get(other.unit.pci) ?? links[1]?.direct.get(one.unit.pci) ?? 0;
  if (direct > 0) return { kind: "nvlink", bandwidthMBps: direct, far: false };
  const switched = Math.min(links[0]?.switched ?? 0, links[1]?.switched ?? 0);
  if (switched > 0) return { kind: "nvswitch", bandwidthMBps: switched, far: false };
  const level = nvml.number("nvmlDeviceGetTopologyCommonAncestor", one.handle, other.handle) ?? 0;
  return { kind: "pcie", bandwidthMBps: 0, far: level >= OVER_SOCKETS };
}

function linksOf(nvml: Nvml, { handle }: SeenLinks): Links {
  const direct = new Map<string, number>();
  let switched = 0;
  for (let link = 0; link < MAX_LINKS; link += 1) {
    const active = nvml.number("nvmlDeviceGetNvLinkState", handle, link);
    // The driver reports no state after the last link.
    if (active === null) break;
    if (active !== 1) continue;
    const speed = speedOf(nvml, handle, link);
    if (nvml.number("nvmlDeviceGetNvLinkRemoteDeviceType", handle, link) === TO_SWITCH) {
      switched += speed;
      continue;
    }
    const remote = pciOf(nvml, "nvmlDeviceGetNvLinkRemotePciInfo_v2", handle, link);
    direct.set(remote, (direct.get(remote) ?? 0) + speed);
  }
  return { direct, switched };
}

function speedOf(nvml: Nvml, handle: unknown, link: number): number {
  const reportedSpeed = field(nvml, handle, NVLINK_SPEED, link);
  if (reportedSpeed > 0) return reportedSpeed;
  const generation = nvml.number("nvmlDeviceGetNvLinkVersion", handle, link) ?? 0;
  return BY_GENERATION[Math.min(generation, BY_GENERATION.length - 1)] ?? 0;
}

/** Read from the first superchip: all superchips of a node are equal. */
function coherentSpeed(nvml: Nvml, [first]: readonly SeenLinks[]): number {
  if (first === undefined) return 0;
  return field(nvml, first.handle, C2C_COUNT, 0) * field(nvml, first.handle, C2C_SPEED, 0);
}

/** nvmlFieldValue_t: id, scope, timestamp, latency, type of the value, answer, value. */
const FIELD_BYTES = 40;
const ANSWER_AT = 28;
const VALUE_AT = 32;

/** Returns 0 when the GPU has no such value. */
function field(nvml: Nvml, handle: unknown, id: number, scope: number): number {
  const value = Buffer.alloc(FIELD_BYTES);
  value.writeUInt32LE(id, 0);
  value.writeUInt32LE(scope, 4);
  if (nvml.call("nvmlDeviceGetFieldValues", handle, 1, value) !== OK) return 0;
  if (value.readInt32LE(ANSWER_AT) !== OK) return 0;
  // Counts and speeds are small unsigned numbers in every field type.
  return value.readUInt32LE(VALUE_AT);
}
