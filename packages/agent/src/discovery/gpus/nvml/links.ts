// How the NVIDIA GPUs of a node are linked: NVLink between two GPUs, NVLink to a switch that joins all, or the bus.
// Speeds come from the driver; a link without a reported speed has that of its generation.

import type { GpuTie, GpuUnit } from "../base/inventory.ts";
import { type Nvml, OK } from "./library.ts";
import { pciOf } from "./pci.ts";

export interface SeenLinks {
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

export function tiesOf(nvml: Nvml, seen: readonly SeenLinks[]): GpuTie[] {
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
export function coherentSpeed(nvml: Nvml, [first]: readonly SeenLinks[]): number {
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
