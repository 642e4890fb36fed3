// Containers with a share of their node: they start although other GPUs are denied to them, terminals that enter later are
// denied those too, and an OOM kill is reported as such. Also devices by CDI name.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { searchPath } from "../../src/base/executable.ts";
import { hierarchies } from "../../src/host/isolation/detect.ts";
import { removeBelow } from "../../src/host/isolation/group-folder.ts";
import { deviceHost } from "../../src/runtime/devices/host.ts";
import { detectPodman } from "../../src/runtime/podman/detect.ts";
import { pullImage } from "../../src/runtime/podman/prepare.ts";
import { runWords } from "../../src/runtime/podman/start.ts";
import { found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";
import { type ContainerRig, containerRig } from "./container-rig.ts";

let containers: ContainerRig;
let r: Rig;
let folder: string;
beforeAll(async () => {
  containers = await containerRig();
  folder = mkdtempSync(join(tmpdir(), "lattice-shares-"));
  const software = { ...DEFAULT_SOFTWARE, insecureRegistries: [containers.registry], cacheMinFreeBytes: 0 };
  r = await rig({ options: { software, hardware: { features: [], gpuCount: 2, gpuType: "test" } } });
});
afterAll(async () => {
  await r.close();
  await containers.close();
  rmSync(folder, { recursive: true, maxRetries: 9 });
});

const DEVICES = "/sys/fs/cgroup/devices";

test("one of two GPUs: the container starts, and other devices are denied to processes that enter", async () => {
  r.server.run({
    allocationId: "1",
    entrypoint: "echo [$CUDA_VISIBLE_DEVICES]; cat /proc/self/cgroup; while true; do sleep 0.1; done",
    environment: { image: containers.image },
    limits: { gpuCount: 1 },
    // A probe enters every second.
    livenessProbe: { probeType: "tcp", port: 1, periodSecs: 1, failureThreshold: 1_000, timeoutSecs: 1 },
  });
  await found(() => r.file("1", "stdout").includes("[0]\n"));
  const path = await found(() => r.file("1", "stdout"));
  const group = /^\d+:devices:(\/lattice\/[^/\n]+)/m.exec(path)?.[1];
  if (group !== undefined && existsSync(DEVICES)) {
    for (const minor of [0, 1]) execFileSync("mknod", [join(folder, `gpu${minor}`), "c", "195", String(minor)]);
    await found(() => /Operation not permitted/.test(opening(join(DEVICES, group), 1)) || null);
    // No driver here has it; that error shows that the open was allowed.
    expect(opening(join(DEVICES, group), 0)).toMatch(/No such device/);
  }
  r.server.stop({ allocationId: "1", graceSeconds: 1 });
  expect(await r.server.end("1")).toMatchObject({ reason: "stopped" });
});

/** The result of opening it in that group. */
function opening(group: string, minor: number): string {
  const script = 'echo 0 >"$1/tasks"; exec 3<"$2"';
  const words = ["-c", script, "sh", group, join(folder, `gpu${minor}`)];
  return spawnSync("/bin/sh", words, { encoding: "utf8", env: { LC_ALL: "C" } }).stderr;
}

test("an OOM kill inside a container is reported as such", async () => {
  r.server.run({
    allocationId: "2",
    entrypoint: "x=0123456789abcdef; while true; do x=$x$x; done",
    environment: { image: containers.image },
    limits: { memoryGb: 0.05, cpuCores: 1 },
  });
  const report = await r.server.end("2");
  expect(report, r.file("2", "stderr")).toMatchObject({ reason: "oom", exitCode: 137 });
});

test("devices and driver files are present, a device also by its CDI name", async () => {
  const engine = detectPodman(searchPath(process.env.PATH ?? ""), "runc");
  if (!engine.ok) throw new Error(engine.error);
  const store = { ...engine.value, folder: join(folder, "oci"), insecure: [containers.registry] };
  const { id } = await pullImage(store, { name: containers.image, known: null }, AbortSignal.timeout(300_000));
  const name = `test${process.pid}`;
  const spec = `/var/run/cdi/lattice-${name}.json`;
  mkdirSync("/var/run/cdi", { recursive: true });
  const devices = [{ name: "0", containerEdits: { deviceNodes: [{ path: "/dev/full" }] } }];
  writeFileSync(spec, JSON.stringify({ cdiVersion: "0.5.0", kind: `lattice.test/${name}`, devices }));
  writeFileSync(join(folder, "environment"), "");
  try {
    const described = deviceHost("tcp")
      .cdi()
      .find((device) => device.name === `lattice.test/${name}=0`);
    expect(described?.paths).toEqual(["/dev/full"]);
    const [program = "", ...words] = runWords(store, {
      ...{ name, image: id, uid: 65534, gid: 65534, groups: [], readOnly: true, umask: "0022" },
      ...{ environmentFile: join(folder, "environment"), secrets: [], binds: [] },
      pidFile: join(folder, "pid"),
      groupParent: `/lattice/${name}`,
      devices: {
        named: [described?.name ?? ""],
        files: ["/dev/null"],
        driver: [{ from: "/bin/busybox", to: "/usr/local/nvidia/bin/nvidia-smi" }],
      },
    });
    const script = "ls /dev/full /dev/null /usr/local/nvidia/bin; echo >/usr/local/nvidia/bin/nvidia-smi";
    const output = spawnSync(program, [...words, "sh", "-c", script], { encoding: "utf8" });
    expect(output.stdout).toBe("/dev/full\n/dev/null\n\n/usr/local/nvidia/bin:\nnvidia-smi\n");
    expect(output.stderr).toMatch(/Read-only file system|Permission denied/);
  } finally {
    rmSync(spec);
    for (const mount of hierarchies(readFileSync("/proc/self/mountinfo", "utf8")).values())
      await removeBelow(join(mount, "lattice", name));
  }
});
