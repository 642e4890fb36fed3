// Local NVMe drives: their names, sizes and firmware, for people who look at a node.

import type { Sysfs } from "./sysfs.ts";

export interface Disk {
  readonly name: string;
  readonly model: string;
  readonly sizeBytes: number;
  readonly firmware: string;
}

/** The kernel counts in these, whatever the drive does. */
const SECTOR_BYTES = 512;

export function readDisks(fs: Sysfs): readonly Disk[] {
  return fs.list("sys/class/nvme").flatMap((controller) => {
    const folder = `sys/class/nvme/${controller}`;
    const spaces = fs.list(folder).filter((name) => /^nvme\d+(c\d+)?n\d+$/.test(name));
    const model = fs.read(`${folder}/model`);
    const firmware = fs.read(`${folder}/firmware_rev`);
    return spaces.map((name) => ({
      name,
      model,
      sizeBytes: (Number(fs.read(`${folder}/${name}/size`)) || 0) * SECTOR_BYTES,
      firmware,
    }));
  });
}
