// A machine made of files, below a folder of its own: what the kernel would say of a node that is not at hand.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Machine {
  readonly root: string;
  file(path: string, text: string): void;
  link(path: string, to: string): void;
  close(): void;
}

export function machine(): Machine {
  const root = mkdtempSync(join(tmpdir(), "lattice-machine-"));
  const at = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  return {
    root,
    file: (path, text) => writeFileSync(at(path), text),
    link: (path, to) => symlinkSync(join(root, to), at(path)),
    close: () => rmSync(root, { recursive: true, force: true, maxRetries: 9 }),
  };
}

/** Two sockets of four cores, GPUs 10 and 11 on the first, 12 and 13 on the second, an adapter beside each pair. */
export function twoSockets(): Machine {
  const made = machine();
  for (const [numa, cpus] of [
    [0, "0-3"],
    [1, "4-7"],
  ] as const) {
    made.file(`sys/devices/system/node/node${numa}/cpulist`, `${cpus}\n`);
    made.file(`sys/devices/system/node/node${numa}/meminfo`, `Node ${numa} MemTotal:       67108864 kB\n`);
    made.file(`sys/devices/system/node/node${numa}/distance`, numa === 0 ? "10 21\n" : "21 10\n");
    const bridge = `sys/devices/pci000${numa}:00/000${numa}:00:01.0`;
    for (const gpu of [10 + 2 * numa, 11 + 2 * numa]) {
      const pci = `0000:${gpu}:00.0`;
      made.file(`${bridge}/${pci}/numa_node`, `${numa}\n`);
      made.file(`${bridge}/${pci}/max_link_speed`, "32.0 GT/s PCIe\n");
      made.file(`${bridge}/${pci}/max_link_width`, "16\n");
      made.link(`sys/bus/pci/devices/${pci}`, `${bridge}/${pci}`);
    }
    const nic = `${bridge}/0000:2${numa}:00.0`;
    made.file(`${nic}/numa_node`, `${numa}\n`);
    made.link(`sys/bus/pci/devices/0000:2${numa}:00.0`, nic);
    made.file(`sys/class/infiniband/mlx5_${numa}/fw_ver`, "28.39.1002\n");
    made.link(`sys/class/infiniband/mlx5_${numa}/device`, nic);
  }
  return made;
}
