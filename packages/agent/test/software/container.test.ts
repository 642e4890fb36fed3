// Attempts in real containers: podman, a registry beside it, and an image of a megabyte.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { failed } from "@lattice/core";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineAttempt, PrologueParts } from "../../src/runtime/base/engine.ts";
import { openContainerEngine } from "../../src/runtime/engines.ts";
import { detectPodman } from "../../src/runtime/podman/detect.ts";
import { checkSignature } from "../../src/runtime/prologue/prologue.ts";
import { openSarus } from "../../src/runtime/sarus/engine.ts";
import { found } from "../fake-server.ts";
import { alive, type Rig, rig } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";
import { type ContainerRig, containerRig } from "./container-rig.ts";

describe("attempts in containers", () => {
  let containers: ContainerRig;
  let r: Rig;
  let data: string;
  let next = 500;
  const id = (): string => String(next++);

  beforeAll(async () => {
    containers = await containerRig();
    data = mkdtempSync(join(tmpdir(), "lattice-data-"));
    writeFileSync(join(data, "file"), "precious\n");
    execFileSync("chmod", ["755", data]);
    const software = { ...DEFAULT_SOFTWARE, insecureRegistries: [containers.registry], cacheMinFreeBytes: 0 };
    r = await rig({ options: { software } });
  });
  afterAll(async () => {
    await r.close();
    await containers.close();
    rmSync(data, { recursive: true, force: true, maxRetries: 9 });
  });

  test("the command sees the pulled image's files, and does not run as root", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      entrypoint: "ls /; id -u; echo $X; grep -E 'Seccomp:|NoNewPrivs|CapEff' /proc/self/status; exit 3",
      environment: { image: containers.image },
      variables: { X: "two\nlines", LD_PRELOAD: "/evil.so" },
    });
    const report = await r.server.end(a);
    expect(report, r.file(a, "stderr")).toMatchObject({ reason: "exit_code", exitCode: 3 });
    const out = r.file(a, "stdout");
    expect(out).not.toContain("boot\n");
    expect(out).toContain("\n65534\ntwo lines\n");
    expect(out).toMatch(/CapEff:\s+0000000000000000/);
    expect(out).toMatch(/NoNewPrivs:\s+1/);
    expect(out).toMatch(/Seccomp:\s+2/);
  });

  test("an image by digest runs with a read-only root, data, scratch and a script", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      script:
        "#!/bin/sh\ncat /data/in/file; touch /data/in/x; touch /new; touch $LATTICE_SCRATCH/ok && echo scratch; pwd\n",
      workdir: "/data/in",
      environment: { image: `${containers.image}@${containers.digest}`, readOnly: true },
      mounts: [{ source: data, target: "/data/in" }],
    });
    const report = await r.server.end(a);
    expect(report, r.file(a, "stderr")).toMatchObject({ state: pb.AllocationState.COMPLETED });
    expect(r.file(a, "stdout")).toBe("precious\nscratch\n/data/in\n");
    expect(r.file(a, "stderr").match(/Read-only file system/g)).toHaveLength(2);
    expect(readdirSync(data)).toEqual(["file"]);
  });

  test("a missing command exits with 127; a wrong digest and a missing image fail the prologue", async () => {
    const [a, b, c] = [id(), id(), id()];
    r.server.run({ allocationId: a, command: ["/no/such"], environment: { image: containers.image } });
    expect(await r.server.end(a)).toMatchObject({ reason: "exit_code", exitCode: 127 });
    const wrong = `${containers.registry}/hpc/tiny@sha256:${"0".repeat(64)}`;
    r.server.run({ allocationId: b, entrypoint: "true", environment: { image: wrong } });
    expect(await r.server.end(b)).toMatchObject({ reason: "prologue_failed" });
    r.server.run({ allocationId: c, entrypoint: "true", environment: { image: `${containers.registry}/no/such:1` } });
    expect((await r.server.end(c)).message).toMatch(/\(image\): cannot pull .*no\/such:1/);
  });

  test("stopping ends all processes after their grace and leaves no container", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      entrypoint: "trap 'echo bye; exit 0' TERM; echo up; while true; do sleep 0.1; done",
      environment: { image: containers.image },
    });
    await found(() => r.file(a, "stdout").includes("up"));
    const pid = Number(await found(() => r.file(a, "init.pid").trim()));
    expect(readFileSync(join("/proc", String(pid), "root", "bin", "busybox")).length).toBeGreaterThan(100_000);
    r.server.stop({ allocationId: a, graceSeconds: 10 });
    expect(await r.server.end(a)).toMatchObject({ reason: "stopped" });
    expect(r.file(a, "stdout")).toContain("bye");
    expect(alive(pid)).toBe(false);
    expect(names(r.dataDir)).toEqual([]);
  });

  test("a container outlives its agent, the next agent watches it, and unknown containers are removed", async () => {
    const software = { ...DEFAULT_SOFTWARE, insecureRegistries: [containers.registry], cacheMinFreeBytes: 0 };
    const other = await rig({ options: { software, killWorkloadsOnExit: false } });
    const entrypoint = "echo up; while true; do sleep 0.1; done";
    for (const allocationId of ["601", "602"]) {
      other.server.run({ allocationId, entrypoint, environment: { image: containers.image }, limits: { memoryGb: 1 } });
      await found(() => other.file(allocationId, "stdout").includes("up"));
    }
    const pid = Number(await found(() => other.file("602", "init.pid").trim()));
    await other.agent.close();
    rmSync(join(other.dataDir, "attempts", "602.1"), { recursive: true, maxRetries: 9 });
    await other.start();
    await found(() => !alive(pid));
    await found(() => names(other.dataDir).join() === "lattice-601.1");
    await found(() => readdirSync(join(other.dataDir, "scratch")).join() === ".trash,601.1");
    await found(() => other.agent.connected() === 1);
    other.server.stop({ allocationId: "601", graceSeconds: 1 });
    expect(await other.server.end("601")).toMatchObject({ reason: "stopped" });
    expect(names(other.dataDir)).toEqual([]);
    await other.close();
  });

  test("a program that ignores SIGTERM is killed and its container removed", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      entrypoint: "trap '' TERM; echo up; while true; do sleep 0.1; done",
      environment: { image: containers.image },
    });
    await found(() => r.file(a, "stdout").includes("up"));
    const pid = Number(await found(() => r.file(a, "init.pid").trim()));
    r.server.stop({ allocationId: a, graceSeconds: 1 });
    expect(await r.server.end(a)).toMatchObject({ reason: "stopped" });
    expect(alive(pid)).toBe(false);
    expect(names(r.dataDir)).toEqual([]);
    expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(`${r.dataDir}/cache/oci/store/overlay/`);
  });
});

describe("container images in the node's cache", () => {
  let containers: ContainerRig;
  beforeAll(async () => {
    containers = await containerRig();
  });
  afterAll(() => containers.close());
  const withCache = (cacheSizeBytes: number): Promise<Rig> => {
    const software = { ...DEFAULT_SOFTWARE, insecureRegistries: [containers.registry], cacheMinFreeBytes: 0 };
    return rig({ options: { software: { ...software, cacheSizeBytes, cacheFullPausesMs: [] } } });
  };
  const imagesIn = ({ dataDir }: Rig): string =>
    execFileSync("podman", [...storeOf(dataDir), "images", "-q"], { encoding: "utf8" }).trim();

  test("an oversized image fails its prologue stage and leaves nothing behind", async () => {
    const r = await withCache(1000);
    r.server.run({ allocationId: "1", entrypoint: "true", environment: { image: containers.image } });
    const report = await r.server.end("1");
    expect(report).toMatchObject({ reason: "prologue_failed" });
    expect(report.message).toMatch(/\(cache\): .*hpc\/tiny:1.* more than the cache of 1000 can hold/);
    expect(imagesIn(r)).toBe("");
    await r.close();
  });

  test("a container image is warmed, shown, pinned and evicted like others", async () => {
    const r = await withCache(1e9);
    const ask = async (ask: pb.ImageRequest["ask"]): Promise<pb.ImageAnswer> => {
      const requestId = String(r.server.answers.length + 1);
      r.server.send({ case: "imageRequest", value: create(pb.ImageRequestSchema, { requestId, ask }) });
      return found(() => r.server.answers.find((answer) => answer.requestId === requestId));
    };
    const warm = (image: string) =>
      ask({ case: "warm", value: create(pb.WarmCacheRequestSchema, { image, sticky: true }) });
    const { cache, error } = await warm(containers.image);
    expect(error).toBe("");
    expect(cache?.images).toMatchObject([{ name: containers.image, kind: "oci", sticky: true, pins: 0 }]);
    expect(Number(cache?.usedBytes)).toBeGreaterThan(1_000_000);
    expect((await warm(`${containers.registry}/no/such:1`)).error).toMatch(/cannot pull/);
    expect((await warm("prgenv/1:v1")).error).toContain("no registry is configured");
    r.server.run({ allocationId: "2", entrypoint: "exit 6", environment: { image: containers.image } });
    expect(await r.server.end("2")).toMatchObject({ exitCode: 6 });
    const evicted = await ask({
      case: "evict",
      value: create(pb.EvictImageRequestSchema, { image: containers.image }),
    });
    expect(evicted.cache?.images).toEqual([]);
    expect(imagesIn(r)).toBe("");
    await r.close();
  });
});

test.each(["crun", "runc"] as const)("%s, when the site names it, is what runs them", async (containerRuntime) => {
  const containers = await containerRig();
  const software = { ...DEFAULT_SOFTWARE, containerRuntime, insecureRegistries: [containers.registry] };
  const r = await rig({ options: { software: { ...software, cacheMinFreeBytes: 0 } } });
  try {
    const environment = { image: containers.image };
    r.server.run({
      allocationId: "1",
      entrypoint: "grep -E 'Seccomp:|CapEff' /proc/self/status; id -u; exit 4",
      environment,
      limits: { memoryGb: 1 },
    });
    expect(await r.server.end("1"), r.file("1", "stderr")).toMatchObject({ reason: "exit_code", exitCode: 4 });
    expect(r.file("1", "stdout")).toMatch(/CapEff:\s+0{16}\nSeccomp:\s+2\n65534\n/);
    expect(r.file("1", "stderr")).toBe("");
    r.server.run({
      allocationId: "2",
      entrypoint: "trap '' TERM; echo up; while true; do sleep 0.1; done",
      environment,
    });
    await found(() => r.file("2", "stdout").includes("up"));
    const pid = Number(await found(() => r.file("2", "init.pid").trim()));
    const runtime = spawnSync("podman", [...storeOf(r.dataDir), "ps", "--format", "{{.Names}}"], { encoding: "utf8" });
    expect(runtime.stdout).toBe("lattice-2.1\n");
    const inspected = ["inspect", "--format", "{{.OCIRuntime}}", "lattice-2.1"];
    expect(execFileSync("podman", [...storeOf(r.dataDir), ...inspected], { encoding: "utf8" })).toContain(
      containerRuntime,
    );
    r.server.stop({ allocationId: "2", graceSeconds: 1 });
    expect(await r.server.end("2")).toMatchObject({ reason: "stopped" });
    expect(alive(pid)).toBe(false);
    expect(names(r.dataDir)).toEqual([]);
  } finally {
    await r.close();
    await containers.close();
  }
});

test("a node without an engine says which program is missing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lattice-programs-"));
  expect(detectPodman([folder])).toEqual(failed("podman is not installed on this node"));
  writeFileSync(join(folder, "podman"), "", { mode: 0o755 });
  expect(detectPodman([folder])).toEqual(failed("podman is installed, but neither crun nor runc is"));
  for (const name of ["runc", "crun"]) writeFileSync(join(folder, name), "", { mode: 0o755 });
  expect(detectPodman([folder])).toMatchObject({ value: { runtime: join(folder, "crun") } });
  expect(detectPodman([folder], "auto", "/unified")).toMatchObject({ value: { runtime: join(folder, "runc") } });
  expect(detectPodman([folder], "runc")).toMatchObject({ value: { runtime: join(folder, "runc") } });
  rmSync(join(folder, "crun"));
  const noCrun = "podman is installed, but crun is not (--container-runtime)";
  expect(detectPodman([folder], "crun")).toEqual(failed(noCrun));
  expect(openSarus({ path: [folder] })).toEqual(failed("sarus is not installed on this node (--container-runtime)"));
  const engine = openContainerEngine({
    ...{ choice: "crun", cacheDir: folder, insecureRegistries: [], path: [folder], isRoot: true },
  });
  rmSync(folder, { recursive: true, maxRetries: 9 });
  const prepared = engine.prepare({} as PrologueParts, {} as EngineAttempt, new AbortController().signal);
  await expect(prepared).rejects.toMatchObject({ stage: "container", message: noCrun });
  await expect(engine.pull("x", new AbortController().signal)).rejects.toThrow(noCrun);
});

test.each([
  { signedOnly: true, signRequired: false, says: /only signed images may be used here \(--require-signed\)/ },
  { signedOnly: false, signRequired: true, says: /cannot be checked on this node$/ },
])("no container runs where signatures are required: %o", async ({ signedOnly, signRequired, says }) => {
  const images = { signedOnly } as PrologueParts["images"];
  const order = create(pb.RunOrderSchema, { environment: { image: "x", signRequired } });
  expect(() => checkSignature({ images }, { order })).toThrow(
    expect.objectContaining({ stage: "image", message: expect.stringMatching(says) }),
  );
});

const storeOf = (dataDir: string): readonly string[] => [
  ...["--root", join(dataDir, "cache/oci/store"), "--runroot", join(dataDir, "cache/oci/run")],
];

function names(dataDir: string): string[] {
  const listed = execFileSync("podman", [...storeOf(dataDir), "ps", "-a", "--format", "{{.Names}}"], {
    encoding: "utf8",
  });
  return listed.split("\n").filter((name) => name !== "");
}
