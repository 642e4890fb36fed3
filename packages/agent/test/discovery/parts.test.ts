// Discovery of a machine, part by part: memory, adapters, drives, AMD's tool, the fingerprint, faults.

import { afterEach, describe, expect, it } from "vitest";
import { numbersOf, sysfs } from "../../src/discovery/base/sysfs.ts";
import { readDisks } from "../../src/discovery/disks.ts";
import { findFaults, NOTHING_EXPECTED } from "../../src/discovery/faults.ts";
import { bootParameters, components, fingerprint } from "../../src/discovery/fingerprint.ts";
import {
  type GpuInventory,
  type GpuUnit,
  modelName,
  NO_GPUS,
  pciAddress,
} from "../../src/discovery/gpus/base/inventory.ts";
import { parseRocm } from "../../src/discovery/gpus/rocm.ts";
import { gpuTopology } from "../../src/discovery/gpus/topology.ts";
import { readMemory } from "../../src/discovery/memory.ts";
import { nicAffinity, readNics } from "../../src/discovery/nics.ts";
import { unit } from "./gpu-unit.ts";
import { type Machine, machine, twoSockets } from "./machine.ts";

let made: Machine[] = [];
const keep = (one: Machine): Machine => {
  made.push(one);
  return one;
};
afterEach(() => {
  for (const one of made) one.close();
  made = [];
});

const GB = 2 ** 30;
const inventory = (units: readonly GpuUnit[], more: Partial<GpuInventory> = {}): GpuInventory => ({
  ...NO_GPUS,
  driver: "580.1",
  units,
  ...more,
});
const four = inventory([unit(0), unit(1), unit(2), unit(3)]);

describe("names", () => {
  it.each([
    ["NVIDIA H100 80GB HBM3", "H100"],
    ["NVIDIA A100-SXM4-80GB", "A100"],
    ["NVIDIA GH200 480GB", "GH200"],
    ["NVIDIA GeForce RTX 4090", "GeForce-RTX-4090"],
    ["AMD Instinct MI300X OAM", "MI300X"],
    ["AMD INSTINCT MI250X / MI250", "MI250X"],
    ["", ""],
  ])("%s is a %s", (product, model) => expect(modelName(product)).toBe(model));

  it("addresses of every length and lists of numbers are parsed", () => {
    expect(pciAddress("00000000:C1:00.0")).toBe("0000:c1:00.0");
    expect(pciAddress("0001:3b:00.1")).toBe("0001:3b:00.1");
    expect(pciAddress("nonsense")).toBe("");
    expect(numbersOf("0-2,8,x")).toEqual([0, 1, 2, 8]);
  });
});

describe("memory", () => {
  it("each socket is a domain with its GPUs", () => {
    const { topology, unified, cxlBytes } = readMemory(sysfs(keep(twoSockets()).root), four);
    expect({ unified, cxlBytes }).toEqual({ unified: false, cxlBytes: 0 });
    expect(topology?.domains).toEqual([
      { id: 0, kind: "dram", capacityBytes: 64 * GB, numaNode: 0, cpus: [0, 1, 2, 3], gpus: [0, 1] },
      { id: 1, kind: "dram", capacityBytes: 64 * GB, numaNode: 1, cpus: [4, 5, 6, 7], gpus: [2, 3] },
    ]);
    expect(topology?.interconnects).toEqual([{ a: 0, b: 1, kind: "numa_link", bandwidthMBps: 47_619 }]);
  });

  it("a single domain has no topology", () => {
    const one = keep(machine());
    one.file("sys/devices/system/node/node0/cpulist", "0-7");
    expect(readMemory(sysfs(one.root), NO_GPUS).topology).toBeUndefined();
    expect(readMemory(sysfs(keep(machine()).root), NO_GPUS).topology).toBeUndefined();
  });

  it("expanders are a separate domain without cores", () => {
    const one = keep(machine());
    one.file("sys/devices/system/node/node0/cpulist", "0-7");
    one.file("sys/devices/system/node/node0/distance", "10 30");
    one.file("sys/devices/system/node/node1/cpulist", "");
    one.file("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 1048576 kB");
    one.file("sys/bus/cxl/devices/mem0/ram/size", "0x40000000");
    const { topology, cxlBytes, remoteBytes } = readMemory(sysfs(one.root), NO_GPUS);
    expect({ cxlBytes, remoteBytes }).toEqual({ cxlBytes: GB, remoteBytes: GB });
    expect(topology?.domains.map(({ kind }) => kind)).toEqual(["dram", "cxl"]);
    expect(topology?.interconnects[0]?.kind).toBe("cxl_switch");
  });

  it("a CPU and a GPU that share memory form one domain", () => {
    const one = keep(machine());
    one.file("sys/devices/system/node/node0/cpulist", "0-71");
    one.file("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 503316480 kB");
    // The memory of the GPU.
    one.file("sys/devices/system/node/node1/cpulist", "");
    one.file("sys/bus/pci/devices/0000:10:00.0/numa_node", "0");
    const chip = inventory([unit(0, { model: "GH200", memoryBytes: 96 * GB })], { coherentMBps: 450_000 });
    const { topology, unified } = readMemory(sysfs(one.root), chip);
    expect(unified).toBe(true);
    expect(topology?.domains).toMatchObject([{ kind: "unified", capacityBytes: (480 + 96) * GB, gpus: [0] }]);
    expect(topology?.interconnects).toEqual([{ a: 0, b: 0, kind: "coherent_fabric", bandwidthMBps: 450_000 }]);
  });
});

describe("adapters and links", () => {
  it("an adapter is nearest to the GPUs behind the same bridge", () => {
    const fs = sysfs(keep(twoSockets()).root);
    const nics = readNics(fs);
    expect(nics.map(({ name, firmware }) => `${name} ${firmware}`)).toEqual(["mlx5_0 28.39.1002", "mlx5_1 28.39.1002"]);
    expect(nicAffinity(fs, four, nics)).toEqual({ 0: "mlx5_0", 1: "mlx5_0", 2: "mlx5_1", 3: "mlx5_1" });
  });

  it("unknown link speeds are those of the bus, halved across sockets", () => {
    const fs = sysfs(keep(twoSockets()).root);
    const ties = [
      { a: 0, b: 1, kind: "nvlink" as const, bandwidthMBps: 50_000, far: false },
      { a: 0, b: 2, kind: "pcie" as const, bandwidthMBps: 0, far: true },
      { a: 2, b: 3, kind: "pcie" as const, bandwidthMBps: 0, far: false },
    ];
    const links = gpuTopology(fs, { ...four, ties }, {})?.links ?? [];
    expect(links.map(({ bandwidthMBps }) => bandwidthMBps)).toEqual([50_000, 31_504, 63_008]);
    expect(gpuTopology(fs, NO_GPUS, {})).toBeUndefined();
  });
});

describe("drives", () => {
  it("drives are listed with size and firmware", () => {
    const one = keep(machine());
    one.file("sys/class/nvme/nvme0/model", "SAMSUNG MZ1\n");
    one.file("sys/class/nvme/nvme0/firmware_rev", "GDC7\n");
    one.file("sys/class/nvme/nvme0/nvme0n1/size", "2000\n");
    expect(readDisks(sysfs(one.root))).toEqual([
      { name: "nvme0n1", model: "SAMSUNG MZ1", sizeBytes: 1_024_000, firmware: "GDC7" },
    ]);
  });
});

const ROCM = {
  card0: {
    "Unique ID": "0x8d9f",
    "VBIOS version": "113-M3000100",
    "PCI Bus": "0000:0C:00.0",
    "VRAM Total Memory (B)": "206141652992",
    "Card Series": "AMD Instinct MI300X",
    "GFX Version": "gfx942",
  },
  card1: { "PCI Bus": "0000:22:00.0", "Card series": "AMD Instinct MI300X", "VRAM Total Memory (B)": "206141652992" },
  system: {
    "Driver version": "6.10.5",
    "(Topology) Hops between DRM devices 0 and 1": "1",
    "(Topology) Link type between DRM devices 0 and 1": "XGMI",
  },
};

describe("AMD's tool", () => {
  it("the output of rocm-smi is parsed", () => {
    const { driver, units, ties, faults } = parseRocm(JSON.stringify(ROCM));
    expect({ driver, faults }).toEqual({ driver: "6.10.5", faults: [] });
    expect(units[0]).toMatchObject({
      model: "MI300X",
      pci: "0000:0c:00.0",
      firmware: "113-M3000100",
      capability: "gfx942",
    });
    expect(units[1]).toMatchObject({ index: 1, vendor: "amd", memoryBytes: 206_141_652_992 });
    expect(ties).toEqual([{ a: 0, b: 1, kind: "xgmi", bandwidthMBps: 50_000, far: false }]);
  });

  it("invalid and empty output of rocm-smi is ignored", () => {
    expect(parseRocm("WARNING: no devices").faults).toHaveLength(1);
    expect(parseRocm("{}")).toEqual(NO_GPUS);
    expect(parseRocm('{"card0": {}, "system": null}').units).toHaveLength(1);
  });
});

describe("the fingerprint", () => {
  const facts = { gpuType: "H100", gpuCount: 4, gpus: four, nics: [], baseImage: "" };

  it("the fingerprint changes with versions and not with node-specific values", () => {
    const one = keep(machine());
    one.file("proc/cmdline", "root=UUID=1 quiet hugepages=16");
    one.file("sys/class/dmi/id/bios_version", "2.4");
    const fs = sysfs(one.root);
    const before = components(fs, facts);
    expect(before).toMatchObject({ boot: "hugepages=16 quiet", bios: "2.4", gpu_driver: "580.1", gpus: "4 H100" });
    expect(fingerprint(components(fs, facts))).toBe(fingerprint(before));
    one.file("proc/cmdline", "hugepages=16 root=UUID=2 quiet");
    expect(fingerprint(components(fs, facts))).toBe(fingerprint(before));
    one.file("proc/cmdline", "hugepages=32 root=UUID=2 quiet");
    expect(fingerprint(components(fs, facts))).not.toBe(fingerprint(before));
    const driver = { ...facts, gpus: { ...four, driver: "590.2" } };
    expect(fingerprint(components(fs, driver))).not.toBe(fingerprint(components(fs, facts)));
  });

  it("boot parameters for init are excluded", () => {
    expect(bootParameters("quiet -- --token=abc")).toBe("quiet");
    expect(bootParameters("ip=10.0.0.1::eth0 nid=7 b=2 a=1")).toBe("a=1 b=2");
  });
});

describe("faults", () => {
  it("missing GPUs and adapters and memory errors are faults", () => {
    const one = keep(twoSockets());
    const fs = sysfs(one.root);
    const nics = readNics(fs);
    expect(findFaults(fs, four, nics, { units: 4, boards: 4, nics })).toEqual([]);
    expect(findFaults(fs, null, nics, NOTHING_EXPECTED)).toEqual([]);
    const three = inventory(four.units.slice(1));
    expect(findFaults(fs, three, nics, { units: 4, boards: 0, nics })).toEqual(["3 of 4 GPUs are present"]);
    expect(findFaults(fs, three, nics, { units: 0, boards: 4, nics })).toEqual(["3 of 4 GPUs are present"]);
    expect(findFaults(fs, four, nics.slice(1), { units: 0, boards: 4, nics })).toEqual([
      "network adapter mlx5_0 is missing",
    ]);
    one.file("sys/devices/system/edac/mc/mc0/ue_count", "2");
    expect(findFaults(fs, four, nics, NOTHING_EXPECTED)).toEqual(["2 uncorrectable errors in main memory"]);
  });

  it("faults of AMD GPUs come from the kernel", () => {
    const one = keep(twoSockets());
    const fs = sysfs(one.root);
    one.file("sys/bus/pci/devices/0000:10:00.0/ras/umc_err_count", "ue: 1\nce: 7\n");
    const amd = inventory([unit(0, { vendor: "amd" }), unit(9, { vendor: "amd" })]);
    expect(findFaults(fs, amd, [], NOTHING_EXPECTED)).toEqual([
      "GPU 0: 1 uncorrectable memory errors",
      "GPU 9 is missing on the bus",
    ]);
  });
});
