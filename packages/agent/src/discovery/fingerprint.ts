// The configuration that must be equal for two nodes to run parts of one allocation: drivers, firmware, kernel and
// boot parameters. The fingerprint is a hash of the sorted list; operators see the list when two nodes differ. Memory
// size and core count are not part of it.

import { createHash } from "node:crypto";
import { cpus, release, version } from "node:os";
import type { Sysfs } from "./base/sysfs.ts";
import type { GpuInventory } from "./gpus/base/inventory.ts";
import type { Nic } from "./nics.ts";

export type Components = Readonly<Record<string, string>>;

interface FingerprintFacts {
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly gpus: GpuInventory;
  readonly nics: readonly Nic[];
  /** Digest of the image that the node was booted from, where the site states one. */
  readonly baseImage: string;
}

export function components(fs: Sysfs, { gpuType, gpuCount, gpus, nics, baseImage }: FingerprintFacts): Components {
  const all: Record<string, string> = {
    kernel: `${release()} ${version()}`,
    boot: bootParameters(fs.read("proc/cmdline")),
    os: osName(fs.read("etc/os-release")),
    arch: process.arch,
    cpu: cpus()[0]?.model ?? "",
    bios: ["bios_vendor", "bios_version", "bios_date"]
      .map((name) => fs.read(`sys/class/dmi/id/${name}`))
      .join(" ")
      .trim(),
    bmc: bmcFirmware(fs),
    gpus: gpuCount === 0 ? "" : `${gpuCount} ${gpuType}`,
    gpu_driver: gpus.driver,
    gpu_firmware: distinct(gpus.units.map((unit) => unit.firmware)),
    nic_firmware: distinct(nics.map((nic) => nic.firmware)),
    base_image: baseImage,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

export function fingerprint(of: Components): string {
  const sorted = Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(sorted.map(([name, value]) => `${name}=${value}`).join("\0"))
    .digest("hex");
}

/** Boot parameters that identify the node or its boot source: they differ between equal nodes. */
const OWN_WORDS =
  /^(BOOT_IMAGE|BOOTIF|root|rootflags|resume|ip|ifname|hostname|nid|xname|initrd|ds|machine_id|systemd\.machine_id|rd\.\S+|nfsroot|url|netroot)=/;

/** Sorted, since the order of boot parameters has no meaning. */
export function bootParameters(line: string): string {
  const [kernel = ""] = line.split(" -- ");
  return kernel
    .split(/\s+/)
    .filter((word) => word !== "" && !OWN_WORDS.test(word))
    .sort((a, b) => (a < b ? -1 : 1))
    .join(" ");
}

const osName = (text: string): string => /^PRETTY_NAME="?([^"\n]*)/m.exec(text)?.[1] ?? "";

const bmcFirmware = (fs: Sysfs): string =>
  distinct(
    fs
      .list("sys/bus/platform/devices")
      .filter((name) => name.startsWith("ipmi_bmc"))
      .map((name) => fs.read(`sys/bus/platform/devices/${name}/firmware_revision`)),
  );

const distinct = (values: readonly string[]): string =>
  [...new Set(values.filter((value) => value !== ""))].sort((a, b) => (a < b ? -1 : 1)).join(", ");
