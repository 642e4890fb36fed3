// Local NVMe drives: names, sizes and firmware, and whether a folder lies on one, which jobs can require.

import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Sysfs } from "./base/sysfs.ts";

export interface Disk {
  readonly name: string;
  readonly model: string;
  readonly sizeBytes: number;
  readonly firmware: string;
}

/** The kernel counts in these units for every drive. */
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

/** The feature of nodes with fast scratch space. */
export const NVME_SCRATCH = "nvme_scratch";

/** `path` may not exist yet; then the nearest existing parent decides. */
export function isOnNvme(fs: Sysfs, path: string): boolean {
  const device = deviceOf(path);
  return device !== null && isNvme(fs, `sys/dev/block/${device}`, sourceOf(fs, device), MAX_DEPTH);
}

/** A volume of a volume of a partition: more is an error. */
const MAX_DEPTH = 8;
const MINOR_BITS = 8;

function deviceOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return dirname(path) === path ? null : deviceOf(dirname(path));
  const { dev } = found;
  // Splits a device number as the C library does: the low byte, and the overflow next to it.
  const major = (dev >> MINOR_BITS) & 0xfff;
  const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
  return `${major}:${minor}`;
}

/** For file systems with their own device number: the source of the mount, as the kernel reports it. */
function sourceOf(fs: Sysfs, device: string): string {
  const line = fs
    .read("proc/self/mountinfo")
    .split("\n")
    .find((each) => each.split(" ")[2] === device);
  return line?.split(" - ")[1]?.split(" ")[1] ?? "";
}

function isNvme(fs: Sysfs, folder: string, source: string, depth: number): boolean {
  const name = /^DEVNAME=(.+)$/m.exec(fs.read(`${folder}/uevent`))?.[1] ?? source.replace(/^\/dev\//, "");
  if (/^nvme\d/.test(name)) return true;
  const below = fs.list(`${folder}/slaves`);
  // All devices must match: a volume is as slow as its slowest part.
  return depth > 0 && below.length > 0 && below.every((each) => isNvme(fs, `sys/class/block/${each}`, each, depth - 1));
}
