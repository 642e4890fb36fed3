// Decides which devices of the node a container gets: its own GPUs, by name where CDI specifications describe all of
// them, else as device files with the driver's libraries; and the fabric devices for parallel programs. Pure: the node
// is an argument.

import type { GpuUnit } from "../../discovery/gpus/base/inventory.ts";
import type { NodeInventory, NodePart } from "../../host/isolation/node-shares.ts";
import type { CdiDevice } from "./cdi.ts";
import type { DriverFile } from "./driver.ts";

export interface DeviceHost {
  /** Returns the names in a directory; empty when it does not exist. */
  list(folder: string): readonly string[];
  /** Returns null when the file does not exist. */
  read(path: string): string | null;
  cdi(): readonly CdiDevice[];
  /** Libraries of NVIDIA's driver. */
  driver(): Promise<readonly DriverFile[]>;
  /** libfabric's name of the network that tasks use. */
  readonly fabric: "cxi" | "verbs" | "tcp";
}

export interface Passed {
  /** CDI names. */
  readonly named: readonly string[];
  readonly files: readonly string[];
  /** Bound read-only. */
  readonly driver: readonly DriverFile[];
}

export async function passedDevices(host: DeviceHost, inside: NodeInventory, share: NodePart | null): Promise<Passed> {
  const fabric = fabricFiles(host);
  const units = inside.units.filter(({ index }) => share === null || share.gpus.includes(index));
  if (inside.units.length === 0) {
    const files = plainGpus(host, share);
    return { named: [], files: [...files, ...fabric], driver: files.length > 0 ? await host.driver() : [] };
  }
  const named = namesOf(host, units);
  if (named !== null) return { named, files: fabric, driver: [] };
  const files = units.flatMap((unit) => filesOf(host, unit));
  const nvidia = units.some(({ vendor }) => vendor === "nvidia");
  return { named: [], files: [...new Set([...files, ...fabric])], driver: nvidia ? await host.driver() : [] };
}

/** Returns null when at least one unit is not described. */
function namesOf(host: DeviceHost, units: readonly GpuUnit[]): readonly string[] | null {
  const described = units.length === 0 ? [] : host.cdi();
  const names = units.map((unit) => nameOf(host, unit, described));
  return names.every((name) => name !== null) && names.length > 0 ? names : null;
}

function nameOf(host: DeviceHost, unit: GpuUnit, described: readonly CdiDevice[]): string | null {
  const kind = unit.vendor === "nvidia" ? "nvidia.com/gpu=" : "amd.com/gpu=";
  const own = described.filter(({ name }) => name.startsWith(kind) && name !== `${kind}all`);
  const byId = unit.uuid === "" ? undefined : own.find(({ name }) => name === `${kind}${unit.uuid}`);
  // The files of a slice are those of its GPU, so only its own name identifies it.
  if (byId !== undefined || unit.partitioned) return byId?.name ?? null;
  const path = gpuFile(host, unit);
  return own.find(({ paths }) => paths.filter((each) => GPU_FILE.test(each)).join() === path)?.name ?? null;
}

const GPU_FILE = /^\/dev\/(?:nvidia\d+|dri\/renderD\d+)$/;

/** Returns "" when unknown. */
function gpuFile(host: DeviceHost, unit: GpuUnit): string {
  if (unit.vendor === "nvidia") return /^195:\d+$/.test(unit.device) ? `/dev/nvidia${unit.device.slice(4)}` : "";
  const render = host.list(`/sys/bus/pci/devices/${unit.pci}/drm`).find((name) => /^renderD\d+$/.test(name));
  return render === undefined ? "" : `/dev/dri/${render}`;
}

function filesOf(host: DeviceHost, unit: GpuUnit): readonly string[] {
  const own = gpuFile(host, unit);
  if (own === "") return [];
  if (unit.vendor === "amd") return [own, "/dev/kfd"];
  return [own, ...sliceFiles(host, unit), ...controlFiles(host)];
}

/** All GPUs are reached through these. */
const controlFiles = (host: DeviceHost): readonly string[] =>
  host
    .list("/dev")
    .filter((name) => /^nvidia(?:ctl|-uvm|-uvm-tools)$/.test(name))
    .map((name) => `/dev/${name}`);

/** A slice needs two more device files, of its GPU instance and its compute instance. */
function sliceFiles(host: DeviceHost, { slice, device }: GpuUnit): readonly string[] {
  if (slice === undefined) return [];
  const gpu = `/proc/driver/nvidia/capabilities/gpu${device.slice(4)}/mig/gi${slice.gpuInstance}`;
  return [`${gpu}/access`, `${gpu}/ci${slice.computeInstance}/access`].flatMap((path) => {
    const minor = /^DeviceFileMinor:\s*(\d+)/m.exec(host.read(path) ?? "")?.[1];
    return minor === undefined ? [] : [`/dev/nvidia-caps/nvidia-cap${minor}`];
  });
}

/** When only a flag states that there are GPUs, they are NVIDIA's, by number. */
function plainGpus(host: DeviceHost, share: NodePart | null): readonly string[] {
  const gpus = host
    .list("/dev")
    .filter((name) => /^nvidia\d+$/.test(name))
    .filter((name) => share === null || share.gpus.includes(Number(name.slice("nvidia".length))));
  return gpus.length === 0 ? [] : [...gpus.map((name) => `/dev/${name}`), ...controlFiles(host)];
}

export function fabricFiles({ fabric, list }: DeviceHost): readonly string[] {
  if (fabric === "cxi")
    return list("/dev")
      .filter((name) => /^cxi\d+$/.test(name))
      .map((name) => `/dev/${name}`);
  if (fabric !== "verbs") return [];
  return list("/dev/infiniband")
    .filter((name) => /^(?:uverbs\d+|rdma_cm)$/.test(name))
    .map((name) => `/dev/infiniband/${name}`);
}
