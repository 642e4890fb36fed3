// The GPU topology for the scheduler and the prologue. When the speed between two GPUs is unknown, it is that of the
// slower bus slot, and half of it across sockets.

import type { GpuTopology } from "@lattice/core";
import type { Sysfs } from "../base/sysfs.ts";
import type { GpuInventory, GpuTie } from "./base/inventory.ts";

/** Returns undefined without GPUs. */
export function gpuTopology(
  fs: Sysfs,
  { units, ties }: GpuInventory,
  nicAffinity: Readonly<Record<string, string>>,
): GpuTopology | undefined {
  if (units.length === 0) return undefined;
  const busOf = new Map(units.map(({ index, pci }) => [index, busSpeed(fs, pci)]));
  const speed = ({ a, b, bandwidthMBps, far }: GpuTie): number => {
    if (bandwidthMBps > 0) return bandwidthMBps;
    const bus = Math.min(busOf.get(a) ?? 0, busOf.get(b) ?? 0);
    return far ? Math.floor(bus / 2) : bus;
  };
  return {
    gpus: units.map(({ index, vendor, model, memoryBytes, partitioned }) => ({
      index,
      vendor,
      model,
      memoryBytes,
      partitioned,
    })),
    links: ties.map((tie) => ({ a: tie.a, b: tie.b, kind: tie.kind, bandwidthMBps: speed(tie) })),
    nicAffinity,
  };
}

/** Megabytes per second of one lane by transfer rate, net of encoding. */
const LANE_MBPS = new Map([
  ["2.5", 250],
  ["5", 500],
  ["5.0", 500],
  ["8.0", 985],
  ["16.0", 1_969],
  ["32.0", 3_938],
  ["64.0", 7_563],
]);

/** The speed of its slot, not its speed while idle; 0 when unknown. */
function busSpeed(fs: Sysfs, pci: string): number {
  if (pci === "") return 0;
  const rate = fs.read(`sys/bus/pci/devices/${pci}/max_link_speed`).split(" ")[0] ?? "";
  const lanes = Number(fs.read(`sys/bus/pci/devices/${pci}/max_link_width`)) || 0;
  return (LANE_MBPS.get(rate) ?? 0) * lanes;
}
