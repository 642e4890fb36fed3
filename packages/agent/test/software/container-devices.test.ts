// Which devices of a node a container is given, and in which words: nodes that are written down here, not the machine's own.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { containerEnvironment } from "../../src/runtime/container/environment.ts";
import { cdiDevices } from "../../src/runtime/devices/cdi.ts";
import { driverLibraries } from "../../src/runtime/devices/driver.ts";
import { deviceHost } from "../../src/runtime/devices/host.ts";
import { type DeviceHost, passedDevices } from "../../src/runtime/devices/passed.ts";
import type { ContainerStore } from "../../src/runtime/podman/podman.ts";
import { type ContainerPlan, runWords } from "../../src/runtime/podman/start.ts";
import { unit } from "../discovery/gpu-unit.ts";

const DRIVER = [{ from: "/usr/lib/libcuda.so.1", to: "/usr/local/nvidia/lib64/libcuda.so.1" }];
const CONTROLS = ["/dev/nvidia-uvm", "/dev/nvidiactl"];

const CDI_YAML = `---
cdiVersion: 0.5.0
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
  env:
  - NVIDIA_VISIBLE_DEVICES=void
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
    - path: /dev/dri/card1
  name: "0"
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia3
    hooks:
    - args:
      - nvidia-ctk
      name: not-a-device
  name: "1"
- name: MIG-a
  containerEdits:
    deviceNodes:
      - path: /dev/nvidia5
        hostPath: /elsewhere
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
    - path: /dev/nvidia3
  name: all
kind: nvidia.com/gpu
`;

interface Tree {
  readonly folders?: Readonly<Record<string, readonly string[]>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly cdi?: string;
  readonly fabric?: DeviceHost["fabric"];
}

const host = ({ folders = {}, files = {}, cdi = "", fabric = "tcp" }: Tree): DeviceHost => ({
  fabric,
  list: (folder) => folders[folder] ?? [],
  read: (path) => files[path] ?? null,
  cdi: () => cdiDevices(cdi),
  driver: () => Promise.resolve(DRIVER),
});
const NVIDIA = {
  "/dev": ["null", "nvidia-uvm", "nvidia0", "nvidia1", "nvidia2", "nvidia3", "nvidiactl", "nvidia-caps"],
};
const room = (...gpus: number[]) => ({ gpus, cpus: null, memory: null });
const inside = (...units: ReturnType<typeof unit>[]) => ({ gpuCount: units.length, units });

describe("devices of a container", () => {
  const four = inside(...[0, 1, 2, 3].map((index) => unit(index, { device: `195:${3 - index}` })));

  test("a container gets the device files of its own GPUs, and the driver", async () => {
    const node = host({ folders: NVIDIA });
    expect(await passedDevices(node, four, room(0, 1))).toEqual({
      named: [],
      files: ["/dev/nvidia3", ...CONTROLS, "/dev/nvidia2"],
      driver: DRIVER,
    });
    expect((await passedDevices(node, four, null)).files.filter((path) => /\d$/.test(path))).toHaveLength(4);
  });

  test("a share or node without GPUs has no devices", async () => {
    const nothing = { named: [], files: [], driver: [] };
    expect(await passedDevices(host({ folders: NVIDIA, cdi: CDI_YAML }), four, room())).toEqual(nothing);
    expect(await passedDevices(host({}), inside(), null)).toEqual(nothing);
  });

  test("GPUs given by a flag only are passed by number", async () => {
    const counted = { gpuCount: 4, units: [] };
    const node = host({ folders: NVIDIA });
    expect((await passedDevices(node, counted, room(2))).files).toEqual(["/dev/nvidia2", ...CONTROLS]);
    expect((await passedDevices(node, counted, null)).files).toHaveLength(4 + CONTROLS.length);
    expect((await passedDevices(node, counted, room())).files).toEqual([]);
  });

  test("devices are CDI names when a specification describes all of them, else files", async () => {
    const node = host({ folders: NVIDIA, cdi: CDI_YAML });
    const two = inside(unit(0), unit(1, { device: "195:3" }));
    expect(await passedDevices(node, two, room(1))).toEqual({ named: ["nvidia.com/gpu=1"], files: [], driver: [] });
    expect((await passedDevices(node, two, null)).named).toEqual(["nvidia.com/gpu=0", "nvidia.com/gpu=1"]);
    const other = inside(unit(0), unit(1, { device: "195:1" }));
    expect(await passedDevices(node, other, null)).toMatchObject({ named: [], driver: DRIVER });
  });

  test("a slice is passed by name or by its two capability files", async () => {
    const slice = { partitioned: true, device: "195:0", slice: { gpuInstance: 9, computeInstance: 0 } };
    const cut = inside(unit(0, { ...slice, uuid: "MIG-a" }), unit(1, { ...slice, uuid: "MIG-b" }));
    const files = {
      "/proc/driver/nvidia/capabilities/gpu0/mig/gi9/access": "DeviceFileMinor: 84\nDeviceFileMode: 292\n",
      "/proc/driver/nvidia/capabilities/gpu0/mig/gi9/ci0/access": "DeviceFileMinor: 85\nDeviceFileMode: 292\n",
    };
    const node = host({ folders: NVIDIA, files, cdi: CDI_YAML });
    expect((await passedDevices(node, cut, room(0))).named).toEqual(["nvidia.com/gpu=MIG-a"]);
    expect((await passedDevices(node, cut, room(1))).files).toEqual([
      "/dev/nvidia0",
      "/dev/nvidia-caps/nvidia-cap84",
      "/dev/nvidia-caps/nvidia-cap85",
      ...CONTROLS,
    ]);
  });

  test("AMD GPUs are passed as render nodes and the common device", async () => {
    const amd = [0, 1].map((index) => unit(index, { vendor: "amd", device: "", pci: `0000:c${index}:00.0` }));
    const folders = {
      "/sys/bus/pci/devices/0000:c0:00.0/drm": ["card0", "renderD128"],
      "/sys/bus/pci/devices/0000:c1:00.0/drm": ["card1", "renderD129"],
    };
    const given = await passedDevices(host({ folders }), inside(...amd), room(1));
    expect(given).toEqual({ named: [], files: ["/dev/dri/renderD129", "/dev/kfd"], driver: [] });
    const cdi = JSON.stringify({
      kind: "amd.com/gpu",
      devices: [
        { name: "1", containerEdits: { deviceNodes: [{ path: "/dev/kfd" }, { path: "/dev/dri/renderD129" }] } },
      ],
    });
    expect((await passedDevices(host({ folders, cdi }), inside(...amd), room(1))).named).toEqual(["amd.com/gpu=1"]);
  });

  test.each([
    ["cxi", { "/dev": ["cxi0", "cxi1", "cxi_x"] }, ["/dev/cxi0", "/dev/cxi1"]],
    [
      "verbs",
      { "/dev/infiniband": ["issm0", "rdma_cm", "umad0", "uverbs0"] },
      ["/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0"],
    ],
    ["tcp", { "/dev/infiniband": ["uverbs0"] }, []],
  ] as const)("of the fabric: %s", async (fabric, folders, files) => {
    expect((await passedDevices(host({ folders, fabric }), inside(), room())).files).toEqual(files);
  });
});

describe("specifications", () => {
  test("an unparsable specification describes no device", () => {
    for (const text of [
      "",
      "{",
      "[]",
      "kind: x\ndevices: y\n",
      '{"devices":[{"name":"0"}]}',
      "devices:\n- name: a b\n",
    ])
      expect(cdiDevices(text)).toEqual([]);
  });

  test("specifications are found in the engines' directories, the later one first", () => {
    const folder = mkdtempSync(join(tmpdir(), "lattice-cdi-"));
    for (const name of ["etc", "run"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "etc", "nvidia.yaml"), CDI_YAML);
    writeFileSync(join(folder, "etc", "notes.txt"), CDI_YAML);
    writeFileSync(join(folder, "run", "x.json"), JSON.stringify({ kind: "a.b/c", devices: [{ name: "d" }] }));
    const places = { cdi: [join(folder, "etc"), join(folder, "run"), join(folder, "none")], programs: [] };
    const found = deviceHost("tcp", { ...places, ldconfig: "/no/such" }).cdi();
    expect(found.map(({ name }) => name)).toEqual([
      "a.b/c=d",
      "nvidia.com/gpu=0",
      "nvidia.com/gpu=1",
      "nvidia.com/gpu=MIG-a",
      "nvidia.com/gpu=all",
    ]);
    expect(found.map(({ paths }) => paths.length)).toEqual([0, 2, 1, 1, 2]);
    rmSync(folder, { recursive: true, maxRetries: 9 });
  });
});

const LISTING = `6 libs found in cache \`/etc/ld.so.cache'
\tlibnvidia-ptxjitcompiler.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.1
\tlibnvidia-ml.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libnvidia-ml.so.1
\tlibnvidia-gpucomp.so.580.159.04 (libc6,x86-64) => /lib/x86_64-linux-gnu/libnvidia-gpucomp.so.580.159.04
\tlibnvidia-glcore.so.580.159.04 (libc6,x86-64) => /lib/x86_64-linux-gnu/libnvidia-glcore.so.580.159.04
\tlibcudart.so.13 (libc6,x86-64) => /usr/local/cuda/lib64/libcudart.so.13
\tlibcuda.so.1 (libc6) => /lib/i386-linux-gnu/libcuda.so.1
\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1
\tlibcuda.so.1 (libc6,x86-64) => /usr/local/cuda/compat/libcuda.so.1
\tlibcuda.so (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so
`;

test("the driver's libraries are exactly the ones that the loader uses", async () => {
  const to = (name: string) => `/usr/local/nvidia/lib64/${name}`;
  const libraries = driverLibraries(LISTING, "x86-64");
  expect(libraries.map(({ from, to: at }) => [from.replace("/lib/x86_64-linux-gnu/", ""), at])).toEqual(
    [
      "libnvidia-ptxjitcompiler.so.1",
      "libnvidia-ml.so.1",
      "libnvidia-gpucomp.so.580.159.04",
      "libcuda.so.1",
      "libcuda.so",
    ].map((name) => [name, to(name)]),
  );
  const folder = mkdtempSync(join(tmpdir(), "lattice-driver-"));
  const ldconfig = join(folder, "ldconfig");
  writeFileSync(
    ldconfig,
    `#!/bin/sh\n[ "$1" = -p ] && cat <<'END'\n${LISTING.replaceAll("x86-64", process.arch === "arm64" ? "AArch64" : "x86-64")}END\n`,
    {
      mode: 0o755,
    },
  );
  writeFileSync(join(folder, "nvidia-smi"), "", { mode: 0o755 });
  const programs = [join(folder, "nvidia-smi"), join(folder, "missing")];
  const driver = await deviceHost("tcp", { cdi: [], ldconfig, programs }).driver();
  expect(driver).toHaveLength(libraries.length + 1);
  expect(driver.at(-1)).toEqual({ from: programs[0], to: "/usr/local/nvidia/bin/nvidia-smi" });
  expect(await deviceHost("tcp", { cdi: [], ldconfig: "/no/such", programs: [] }).driver()).toEqual([]);
  rmSync(folder, { recursive: true, maxRetries: 9 });
});

test("podman gets exactly these devices, with the driver read-only", () => {
  const plan = {
    ...{ name: "x", image: "i", uid: 1, gid: 1, groups: [], readOnly: false, environmentFile: "/e" },
    ...{ secrets: [], binds: [], pidFile: "/p", groupParent: "/g", umask: "0022" },
    devices: { named: ["nvidia.com/gpu=0"], files: ["/dev/cxi0"], driver: DRIVER },
  } satisfies ContainerPlan;
  const store: ContainerStore = { podman: "podman", runtime: "runc", folder: "/f", insecure: [] };
  const words = runWords(store, plan).join(" ");
  expect(words).toContain("--device nvidia.com/gpu=0 --device /dev/cxi0");
  expect(words).toContain("--volume /usr/lib/libcuda.so.1:/usr/local/nvidia/lib64/libcuda.so.1:ro,nosuid,nodev");
  expect(words.match(/--device/g)).toHaveLength(2);
});

describe("search paths in a container", () => {
  const environment = { PATH: "/node/bin", A: "1" };
  test("search paths are the image's unless the job sets them", () => {
    const image = { PATH: "/opt/app/bin:/bin" };
    expect(containerEnvironment({ environment, chosen: {}, image, driver: false, programs: false })).toEqual({
      PATH: image.PATH,
      A: "1",
    });
    const chosen = { PATH: "/mine" };
    expect(containerEnvironment({ environment, chosen, image, driver: false, programs: false }).PATH).toBe("/mine");
    expect(containerEnvironment({ environment, chosen: {}, image: {}, driver: false, programs: false })).toEqual(
      environment,
    );
  });
  test("the programs of Lattice come last in PATH", () => {
    const job = { ...environment, HYDRA_LAUNCHER_EXEC: "/node/launcher" };
    const made = containerEnvironment({ environment: job, chosen: {}, image: {}, driver: false, programs: true });
    expect(made.PATH).toBe("/node/bin:/opt/lattice/bin");
    expect(made.HYDRA_LAUNCHER_EXEC).toBe("/opt/lattice/bin/lattice-mpi-launcher");
  });
  test("the driver comes last in the library path", () => {
    const image = { PATH: "/bin", LD_LIBRARY_PATH: "/usr/local/nvidia/lib:/usr/local/nvidia/lib64" };
    const made = containerEnvironment({ environment, chosen: {}, image, driver: true, programs: false });
    expect(made).toMatchObject({ PATH: "/bin:/usr/local/nvidia/bin", LD_LIBRARY_PATH: image.LD_LIBRARY_PATH });
    const chosen = { LD_LIBRARY_PATH: "/mine" };
    expect(containerEnvironment({ environment, chosen, image, driver: true, programs: false }).LD_LIBRARY_PATH).toBe(
      "/mine:/usr/local/nvidia/lib64",
    );
  });
});
