// Whether scratch folders lie on NVMe: straight, on a partition, on a volume of several, and where only the mount knows.

import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sysfs } from "../../src/discovery/base/sysfs.ts";
import { isOnNvme } from "../../src/discovery/disks.ts";
import { surveyNode } from "../../src/discovery/survey.ts";
import { type Machine, machine } from "./machine.ts";

let made: Machine;
beforeEach(() => {
  made = machine();
});
afterEach(() => made.close());

/** Of the folder that is asked for, as the kernel writes it. */
const { dev } = statSync(tmpdir());
const number = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
const ask = (): boolean => isOnNvme(sysfs(made.root), join(tmpdir(), "not", "there", "yet"));
const device = (folder: string, name: string): void => made.file(`${folder}/uevent`, `MAJOR=1\nDEVNAME=${name}\n`);
const slaves = (...names: readonly string[]): void => {
  device(`sys/dev/block/${number}`, "dm-0");
  for (const name of names) {
    made.file(`sys/dev/block/${number}/slaves/${name}/dev`, "");
    device(`sys/class/block/${name}`, name);
  }
};

test.each<[string, () => void, boolean]>([
  ["a partition of a drive", () => device(`sys/dev/block/${number}`, "nvme0n1p2"), true],
  ["a disk of another kind", () => device(`sys/dev/block/${number}`, "sda1"), false],
  ["a volume of two drives", () => slaves("nvme0n1", "nvme1n1"), true],
  ["a volume that is partly elsewhere", () => slaves("nvme0n1", "sda"), false],
  [
    "a mount with a number of its own",
    () => made.file("proc/self/mountinfo", `1 2 ${number} / / rw - btrfs /dev/nvme0n1 rw`),
    true,
  ],
  ["nothing that is known", () => undefined, false],
])("%s: %s", (_, make, expected) => {
  make();
  expect(ask()).toBe(expected);
});

test("a node lists local NVMe scratch among its features, next to the configured ones", async () => {
  device(`sys/dev/block/${number}`, "nvme0n1p2");
  const sources = { fs: sysfs(made.root), nvml: "none", rocm: "none", baseImage: "", scratch: tmpdir() };
  const known = { units: 0, boards: 0, nics: [] };
  const { hardware } = await surveyNode({ features: ["fast"] }, sources, known);
  expect(hardware.features).toEqual(["fast", "nvme_scratch"]);
  const without = await surveyNode({ features: [] }, { ...sources, scratch: "" }, known);
  expect(without.hardware.features).toEqual([]);
});
