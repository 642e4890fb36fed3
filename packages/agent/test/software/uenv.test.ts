// Attempts inside real SquashFS images: what they see, what stays outside, and what becomes of an image
// that is not what it should be.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SoftwareOptions } from "../../src/options/software.ts";
import { found } from "../fake-server.ts";
import { type ImageRig, imageRig, metaWith } from "../images/image-rig.ts";
import { type Rig, rig } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";

describe("attempts in uenv images", () => {
  let images: ImageRig;
  let r: Rig;
  let data: string;
  let next = 300;
  const id = (): string => String(next++);
  const software = (): SoftwareOptions => ({
    ...DEFAULT_SOFTWARE,
    registry: images.folder,
    trustedKeys: [images.keyFile],
    cacheSizeBytes: 4_000_000,
    cacheMinFreeBytes: 0,
    cacheFullPausesMs: [50],
  });

  beforeAll(async () => {
    images = imageRig();
    data = mkdtempSync(join(tmpdir(), "lattice-data-"));
    mkdirSync(join(data, "set"));
    writeFileSync(join(data, "set", "file"), "precious\n");
    images.add("gnu/24.11:v1", {
      "bin/hello": "#!/bin/sh\necho from the image\n",
      "meta/env.json": metaWith("gnu", "/user-environment", {
        default: {
          env: {
            values: {
              list: {
                PATH: [{ op: "prepend", value: ["/user-environment/bin"] }],
                LIBS: [
                  { op: "append", value: ["one"] },
                  { op: "append", value: ["two"] },
                ],
              },
              scalar: { GREETING: "hi", UNWANTED: null },
            },
          },
        },
        second: {
          env: { values: { list: { LIBS: [{ op: "prepend", value: ["zero"] }] }, scalar: { GREETING: "ho" } } },
        },
      }),
    });
    images.add("tools/1:v1", { "bin/tool": "#!/bin/sh\necho a tool\n" }, { signed: true });
    r = await rig({ options: { software: software() } });
  });
  afterAll(async () => {
    await r.close();
    images.close();
    rmSync(data, { recursive: true, force: true, maxRetries: 9 });
  });

  test("the image is mounted for the attempt alone, with its views applied in order", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      entrypoint: "hello; echo $LIBS $GREETING [$UNWANTED]; echo $LATTICE_UENV; cat /proc/self/mounts | grep squashfs",
      environment: { uenv: "gnu/24.11:v1", view: "default,second" },
      variables: { UNWANTED: "there" },
    });
    expect(await r.server.end(a)).toMatchObject({ state: pb.AllocationState.COMPLETED });
    const [hello, values, listed, mounted] = r.file(a, "stdout").trim().split("\n");
    expect(hello).toBe("from the image");
    expect(values).toBe("zero:one:two ho []");
    expect(listed).toBe("gnu/24.11:v1:/user-environment");
    expect(mounted).toMatch(/ \/user-environment squashfs ro,nosuid,nodev/);
    expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain("/user-environment squashfs");
  });

  test("two images and tools are mounted together, and the first process is recorded for entry", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      entrypoint: "ls /user-environment/bin /opt/other/bin /user-tools/bin; sleep 30",
      environment: { uenv: "gnu/24.11:v1,gnu/24.11:/opt/other", toolsUenv: "tools/1" },
    });
    await r.server.running(a);
    const pid = await found(() => r.file(a, "init.pid").trim());
    expect(await found(() => r.file(a, "stdout").includes("tool"))).toBe(true);
    expect(readFileSync(`/proc/${pid}/mounts`, "utf8").match(/ squashfs /g)).toHaveLength(3);
    r.server.stop({ allocationId: a, graceSeconds: 5 });
    expect(await r.server.end(a)).toMatchObject({ reason: "stopped" });
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  test("data is mounted at its target, read-only by default", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      entrypoint: "cat /data/input/file; touch /data/input/new; touch /data/out/made; pwd",
      workdir: "/data/out",
      mounts: [
        { source: `file://${data}/set`, target: "/data/input", access: "read-only" },
        { source: data, target: "/data/out", access: "read-write" },
      ],
    });
    expect(await r.server.end(a)).toMatchObject({ state: pb.AllocationState.COMPLETED });
    expect(r.file(a, "stdout")).toBe("precious\n/data/out\n");
    expect(r.file(a, "stderr")).toContain("Read-only file system");
    expect(readdirSync(data).sort()).toEqual(["made", "set"]);
  });

  test("every attempt has a scratch directory, which is removed at its end", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      entrypoint: 'echo "$LATTICE_SCRATCH"; touch "$LATTICE_SCRATCH/x"; mkdir -p "$LATTICE_SCRATCH/a/b"',
    });
    await r.server.end(a);
    const scratch = r.file(a, "stdout").trim();
    expect(scratch).toContain(`${a}.1`);
    expect(existsSync(scratch)).toBe(false);
  });

  test.each([
    ["an image that is not there", "no/such:v1", "", /\(image\).*no\/such:v1: image not found/],
    ["a wrong digest", `gnu/24.11:v1@sha256:${"0".repeat(64)}`, "", /\(image\).*wrong digest/],
    ["a view that is not there", "gnu/24.11:v1", "third", /\(view\).*there are default, second/],
    ["two images at one place", "gnu/24.11:v1,gnu/24.11:v1", "", /\(uenv\).*over another image at \/user-environment/],
    ["a mount point outside the roots", "gnu/24.11:v1:/etc", "", /\(uenv\).*\/etc.*must lie under/],
  ])("%s ends the prologue with its stage", async (_what, uenv, view, message) => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "echo never", environment: { uenv, view } });
    const report = await r.server.end(a);
    expect(report).toMatchObject({ state: pb.AllocationState.FAILED, reason: "prologue_failed" });
    expect(report.message).toMatch(message);
    expect(r.file(a, "stdout")).toBe("");
    expect(
      r.server.reports.some((other) => other.allocationId === a && other.state === pb.AllocationState.RUNNING),
    ).toBe(false);
  });

  test("a corrupted download is rejected and removed", async () => {
    images.add("changed/1:v1", { file: "x".repeat(5000) });
    images.corrupt("changed/1:v1");
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "true", environment: { uenv: "changed/1:v1" } });
    expect((await r.server.end(a)).message).toMatch(/hash mismatch/);
    expect(readdirSync(join(r.dataDir, "cache", "uenv")).join()).not.toContain("changed");
    expect(readdirSync(join(r.dataDir, "cache", "incoming"))).toEqual([]);
  });

  test("a file that is not an image is distinguished from a wrong digest", async () => {
    images.addBytes("garbage/1:v1", Buffer.alloc(8192, 7));
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "true", environment: { uenv: "garbage/1:v1" } });
    expect((await r.server.end(a)).message).toMatch(/\(image\).*cannot be mounted/);
  });

  test("an image larger than the cache, or than its free part, is refused", async () => {
    images.addBytes("huge/1:v1", Buffer.alloc(100), { size: 5_000_000 });
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "true", environment: { uenv: "huge/1:v1" } });
    expect((await r.server.end(a)).message).toMatch(/more than the cache of 4000000 can hold/);
  });

  test("a required signature is verified or the image is refused", async () => {
    const [a, b] = [id(), id()];
    r.server.run({ allocationId: a, entrypoint: "true", environment: { uenv: "gnu/24.11:v1", signRequired: true } });
    expect((await r.server.end(a)).message).toMatch(/gnu\/24.11:v1 is not signed/);
    r.server.run({ allocationId: b, entrypoint: "true", environment: { uenv: "tools/1:v1", signRequired: true } });
    expect(await r.server.end(b)).toMatchObject({ state: pb.AllocationState.COMPLETED });
  });

  test("a missing source and a missing command are distinguished", async () => {
    const [a, b] = [id(), id()];
    r.server.run({ allocationId: a, entrypoint: "true", mounts: [{ source: "/no/such", target: "/data/x" }] });
    expect(await r.server.end(a)).toMatchObject({ reason: "prologue_failed" });
    r.server.run({ allocationId: b, command: ["/no/such"], environment: { uenv: "gnu/24.11:v1" } });
    expect(await r.server.end(b)).toMatchObject({ reason: "exit_code", exitCode: 127 });
  });

  test("a restarted agent continues the attempt with its image still pinned", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      entrypoint: "sleep 1; hello",
      environment: { uenv: "gnu/24.11:v1", view: "default" },
    });
    await r.server.running(a);
    await found(() => r.file(a, "init.pid"));
    await r.agent.close().catch(() => undefined);
    // Ended by the close above: this agent takes its workloads along.
    await r.start();
    expect((await r.server.end(a)).state).toBeGreaterThan(0);
    const cached = readdirSync(join(r.dataDir, "cache", "uenv"));
    expect(cached.some((name) => name.startsWith("gnu_24.11_v1@"))).toBe(true);
  });
});
