// Network adapters, and the adapter nearest to each GPU. On a node with a fast fabric only its adapters count,
// elsewhere every hardware adapter. The nearest adapter shares the longest path from the processor; equally near ones
// are assigned in turn.

import type { Sysfs } from "./base/sysfs.ts";
import type { GpuInventory } from "./gpus/base/inventory.ts";
import { numaOf } from "./memory.ts";

export interface Nic {
  readonly name: string;
  /** Its path on the bus: "/sys/devices/pci0000:00/0000:00:01.0/...". */
  readonly path: string;
  readonly pci: string;
  readonly firmware: string;
  readonly fabric: boolean;
}

export function readNics(fs: Sysfs): readonly Nic[] {
  const fabric = [
    ...adapters(fs, "sys/class/infiniband", (name) => fs.read(`sys/class/infiniband/${name}/fw_ver`)),
    ...adapters(fs, "sys/class/cxi", (name) => fs.read(`sys/class/cxi/${name}/device/uc/qspi_blob_version`)),
  ].map((nic) => ({ ...nic, fabric: true }));
  if (fabric.length > 0) return fabric;
  return adapters(fs, "sys/class/net", () => "").map((nic) => ({ ...nic, fabric: false }));
}

/** By GPU number. */
export function nicAffinity(fs: Sysfs, { units }: GpuInventory, nics: readonly Nic[]): Record<string, string> {
  const given = new Map<string, number>();
  const nearest: Record<string, string> = {};
  for (const { index, pci } of units) {
    const path = pci === "" ? "" : fs.follow(`sys/bus/pci/devices/${pci}`);
    if (path === "") continue;
    const numa = numaOf(fs, pci);
    const ranked = nics
      .map((nic) => ({ name: nic.name, near: nearness(path, nic.path, numa !== null && numaOf(fs, nic.pci) === numa) }))
      .filter(({ near }) => near > 0)
      .sort((a, b) => b.near - a.near || (given.get(a.name) ?? 0) - (given.get(b.name) ?? 0));
    const [best] = ranked;
    if (best === undefined) continue;
    nearest[String(index)] = best.name;
    given.set(best.name, (given.get(best.name) ?? 0) + 1);
  }
  return nearest;
}

/** Number of shared bridges; a shared memory domain alone counts least. */
function nearness(one: string, other: string, sameDomain: boolean): number {
  const a = one.split("/");
  const b = other.split("/");
  let shared = 0;
  while (shared < Math.min(a.length, b.length) && a[shared] === b[shared]) shared += 1;
  // "", "sys", "devices": common to all.
  return 2 * Math.max(0, shared - 3) + Number(sameDomain);
}

function adapters(fs: Sysfs, folder: string, firmware: (name: string) => string): Omit<Nic, "fabric">[] {
  return fs.list(folder).flatMap((name) => {
    const path = fs.follow(`${folder}/${name}/device`);
    return path === "" ? [] : [{ name, path, pci: path.split("/").at(-1) ?? "", firmware: firmware(name) }];
  });
}
