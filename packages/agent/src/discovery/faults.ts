// Faults that keep work away until an operator has repaired the node: a missing GPU or one with lost data, memory with
// uncorrectable errors, a missing fabric adapter. Jobs fail on such a node.

import type { Sysfs } from "./base/sysfs.ts";
import type { GpuInventory } from "./gpus/base/inventory.ts";
import type { Nic } from "./nics.ts";

export interface ExpectedHardware {
  /** Number of GPUs given by a flag; 0 without a flag. */
  readonly units: number;
  /** Number of bus addresses that had a GPU before; slices change with the partitioning of a GPU. */
  readonly boards: number;
  readonly nics: readonly Nic[];
}

export const NOTHING_EXPECTED: ExpectedHardware = { units: 0, boards: 0, nics: [] };

export const boardsOf = ({ units }: GpuInventory): number => new Set(units.map(({ pci, uuid }) => pci || uuid)).size;

export function findFaults(
  fs: Sysfs,
  gpus: GpuInventory | null,
  nics: readonly Nic[],
  expected: ExpectedHardware,
): string[] {
  return [
    ...(gpus === null ? [] : gpuFaults(fs, gpus, expected)),
    ...expected.nics
      .filter(({ fabric, name }) => fabric && !nics.some((nic) => nic.name === name))
      .map(({ name }) => `network adapter ${name} is missing`),
    ...memoryFaults(fs),
  ];
}

function gpuFaults(fs: Sysfs, gpus: GpuInventory, expected: ExpectedHardware): string[] {
  const { units, faults } = gpus;
  const boards = boardsOf(gpus);
  const missing =
    units.length < expected.units
      ? [`${units.length} of ${expected.units} GPUs are present`]
      : boards < expected.boards
        ? [`${boards} of ${expected.boards} GPUs are present`]
        : [];
  const amd = units.flatMap(({ index, vendor, pci }) => {
    if (vendor !== "amd" || pci === "") return [];
    if (fs.follow(`sys/bus/pci/devices/${pci}`) === "") return [`GPU ${index} is missing on the bus`];
    const errors = Number(/^ue:\s*(\d+)/m.exec(fs.read(`sys/bus/pci/devices/${pci}/ras/umc_err_count`))?.[1] ?? 0);
    return errors > 0 ? [`GPU ${index}: ${errors} uncorrectable memory errors`] : [];
  });
  return [...faults, ...missing, ...amd];
}

/** The kernel's count since boot. */
function memoryFaults(fs: Sysfs): string[] {
  const controllers = fs.list("sys/devices/system/edac/mc").filter((name) => /^mc\d+$/.test(name));
  const errors = controllers.reduce(
    (sum, name) => sum + (Number(fs.read(`sys/devices/system/edac/mc/${name}/ue_count`)) || 0),
    0,
  );
  return errors > 0 ? [`${errors} uncorrectable errors in main memory`] : [];
}
