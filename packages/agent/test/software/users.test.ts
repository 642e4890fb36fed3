// Workloads as the submitting user: whose they are, where they stand, what they can reach; and a user
// whom the node does not know.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asUser, parseUserMapping, resolveUser } from "../../src/host/user/user.ts";
import { childOf } from "../../src/runtime/attempt/reattach.ts";
import { isUsersOwn } from "../../src/runtime/prologue/attempt-holdings.ts";
import { found } from "../fake-server.ts";
import { type ImageRig, imageRig } from "../images/image-rig.ts";
import { type Rig, rig } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";

describe("workloads as the submitting user", () => {
  let images: ImageRig;
  let r: Rig;
  let next = 700;
  const id = (): string => String(next++);
  beforeAll(async () => {
    images = imageRig();
    images.add("gnu/1:v1", { "bin/who": "#!/bin/sh\nid -un\n" });
    const software = {
      ...DEFAULT_SOFTWARE,
      userMapping: { kind: "passwd" } as const,
      // The tests run as the account "daemon", which every machine has.
      minUid: 1,
      umask: "0027",
      registry: images.folder,
    };
    r = await rig({ options: { software: { ...software, cacheMinFreeBytes: 0 } } });
  });
  afterAll(async () => {
    await r.close();
    images.close();
  });

  test("a script runs as that user, with its groups, names, folder and umask", async () => {
    const a = id();
    const script = [
      "#!/bin/sh",
      "id -u; id -g; id -G; umask; pwd; echo $HOME $USER $LD_LIBRARY_PATH",
      'touch "$LATTICE_SCRATCH/mine" && echo scratch',
      'cat "$LATTICE_ATTEMPT_DIR/order.json" || echo not mine',
    ];
    r.server.run({
      allocationId: a,
      user: "daemon",
      script: `${script.join("\n")}\n`,
      variables: { LD_LIBRARY_PATH: "/opt/a=b lib" },
    });
    expect(await r.server.end(a), r.file(a, "stderr")).toMatchObject({ state: pb.AllocationState.COMPLETED });
    expect(r.file(a, "stdout").split("\n").slice(0, 8)).toEqual([
      ...["1", "1", "1", "0027", "/usr/sbin", "/usr/sbin daemon /opt/a=b lib", "scratch", "not mine"],
    ]);
  });

  test("the agent mounts data as root and the user can use it", async () => {
    const a = id();
    r.server.run({
      allocationId: a,
      user: "daemon",
      command: ["/user-environment/bin/who"],
      environment: { uenv: "gnu/1:v1" },
    });
    expect(await r.server.end(a)).toMatchObject({ state: pb.AllocationState.COMPLETED });
    expect(r.file(a, "stdout")).toBe("daemon\n");
  });

  test("inaccessible sources are not mounted, and mounts give no root rights", async () => {
    const hidden = mkdtempSync(join(tmpdir(), "lattice-hidden-"));
    mkdirSync(join(hidden, "open"), { mode: 0o755 });
    const [a, b, c] = [id(), id(), id()];
    const mounts = [{ source: join(hidden, "open"), target: "/data/x" }];
    r.server.run({ allocationId: a, user: "daemon", entrypoint: "true", mounts });
    expect((await r.server.end(a)).message).toMatch(/\(mounts\): daemon may not read the source .*open of \/data\/x/);
    chmodSync(hidden, 0o755);
    r.server.run({ allocationId: b, user: "daemon", entrypoint: "grep NoNewPrivs /proc/self/status", mounts });
    expect(await r.server.end(b)).toMatchObject({ state: pb.AllocationState.COMPLETED });
    expect(r.file(b, "stdout")).toMatch(/1$/m);
    mkdirSync("/mnt/lattice-test", { recursive: true });
    symlinkSync("/etc", "/mnt/lattice-test/link");
    const target = "/mnt/lattice-test/link/x";
    r.server.run({ allocationId: c, entrypoint: "true", user: "daemon", mounts: [{ source: hidden, target }] });
    expect((await r.server.end(c)).message).toContain("a part of the target /mnt/lattice-test/link/x is a link");
    rmSync("/mnt/lattice-test", { recursive: true, maxRetries: 9 });
    rmSync(hidden, { recursive: true, maxRetries: 9 });
  });

  test("a terminal enters the user's process, never root's", async () => {
    expect(await isUsersOwn(null, process.pid)).toBe(true);
    expect(await isUsersOwn(1, process.pid)).toBe(false);
    const a = id();
    r.server.run({ allocationId: a, user: "daemon", entrypoint: "sleep 30" });
    await r.server.running(a);
    const wrapper = await found(() => Number.parseInt(r.file(a, "pid"), 10));
    const pid = await found(() => childOf(wrapper, new Set()));
    await found(() => readFileSync(`/proc/${pid}/status`, "utf8").includes("Uid:\t1\t1\t1"));
    expect(await isUsersOwn(1, pid)).toBe(true);
    expect(r.file(a, "launch").split("\n")[0]).toContain('"uid":1,');
    r.server.stop({ allocationId: a, graceSeconds: 1 });
    await r.server.end(a);
  });

  test("stopping ends processes of another user", async () => {
    const a = id();
    r.server.run({ allocationId: a, user: "daemon", entrypoint: "trap '' TERM; sleep 60 & sleep 61" });
    await r.server.running(a);
    r.server.stop({ allocationId: a, graceSeconds: 1 });
    expect(await r.server.end(a)).toMatchObject({ reason: "stopped" });
  });

  test.each(["unknown-user", "", "--help", "a b", "../x", "root\nroot"])("a user %j is a missing uid", async (user) => {
    const a = id();
    r.server.run({ allocationId: a, user, entrypoint: "echo never" });
    const report = await r.server.end(a);
    expect(report).toMatchObject({ reason: "prologue_failed" });
    expect(report.message).toMatch(/^prologue failed \(user\): there is no user .* on this node \(missing uid\)$/);
    expect(r.file(a, "stdout")).toBe("");
  });
});

describe("mappings", () => {
  test("a mapping is parsed from text", () => {
    expect(parseUserMapping("none")).toEqual({ kind: "none" });
    expect(parseUserMapping("file:/etc/map")).toEqual({ kind: "file", path: "/etc/map" });
    expect(parseUserMapping("ldap")).toBeNull();
  });

  test("a file of names replaces the accounts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "lattice-users-"));
    const path = join(folder, "map");
    writeFileSync(path, "# people\nada 4001 4000 27\nbob x\n");
    const find = (name: string, file = path) =>
      resolveUser({ mapping: { kind: "file", path: file }, minUid: 1_000 }, name);
    const ada = await find("ada");
    expect(ada).toMatchObject({ uid: 4001, gid: 4000, groups: [4000, 27], home: "/home/ada" });
    expect(ada && asUser(ada)).toEqual([
      ...["/usr/bin/setpriv", "--reuid=4001", "--regid=4000", "--groups=4000,27", "--"],
    ]);
    await expect(find("bob")).rejects.toThrow("no uid and gid");
    await expect(find("eve")).rejects.toThrow("missing uid");
    await expect(find("ada", "/no/such")).rejects.toThrow("cannot be read");
    rmSync(folder, { recursive: true, maxRetries: 9 });
  });
});
