// Work that cannot run as requested: each ends with a reason in `lattice status`, on every tried node, and the next
// job runs as usual.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useCluster } from "../harness/use-cluster.ts";

// A job has its own /tmp.
const folder = mkdtempSync("/var/tmp/lattice-bad-work-");
const registry = join(folder, "registry");
const users = join(folder, "users");
const CACHE_BYTES = 1_000_000;

const cluster = useCluster({
  nodes: 1,
  agentArgs: [
    ...["--registry", registry, "--cache-min-free", "0", "--cache-size", String(CACHE_BYTES)],
    ...["--cache-full-wait", "1", "--user-mapping", `file:${users}`, "--allow-unauthenticated"],
  ],
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

execFileSync("mkdir", ["-p", registry]);
writeFileSync(users, "known 54330 54330\n");
writeImage("half_1_v1", 600_000);
writeImage("other_1_v1", 600_000);
writeImage("huge_1_v1", 1_500_000);
writeFileSync(join(registry, "garbage_1_v1.squashfs"), randomBytes(20_000));

/** An image of about that size, with incompressible content. */
function writeImage(name: string, bytes: number): void {
  const tree = mkdtempSync(join(folder, "tree-"));
  execFileSync("chmod", ["755", tree]);
  writeFileSync(join(tree, "data"), randomBytes(bytes));
  const image = join(registry, `${name}.squashfs`);
  execFileSync("mksquashfs", [tree, image, "-noappend", "-quiet", "-no-progress"], { stdio: "ignore" });
}

beforeAll(async () => {
  const indexed = await cluster.cli(["uenv", "index", registry]);
  expect(indexed, indexed.stderr).toMatchObject({ code: 0 });
  const flags = ["--scheduler", "interactive-fifo", "--share-nodes"];
  const made = await cluster.cli(["admin", "vcluster", "create", "small", ...flags]);
  expect(made, made.stderr).toMatchObject({ code: 0 });
});

/** Two of them fit on the node. */
const SHARE = { vcluster: "small", constraints: { cpu_cores: 1 } };
const KNOWN = { headers: { "x-lattice-user": "known" } };
const statusOf = async (id: string): Promise<string> => (await cluster.cli(["status", id])).stdout;

test.each([
  ["a corrupt image", { uenv: "garbage/1:v1" }, /prologue failed \(image\): garbage\/1:v1:? .*cannot be mounted/],
  [
    "a wrong digest",
    { uenv: `half/1:v1@sha256:${"0".repeat(64)}` },
    /prologue failed \(image\): half\/1:v1.*: .*wrong digest/,
  ],
  [
    "an image larger than the cache",
    { uenv: "huge/1:v1" },
    /prologue failed \(image\): .*more than the cache of 1000000/,
  ],
  ["an image that is not there", { uenv: "no/such:v1" }, /prologue failed \(image\): no\/such:v1: image not found/],
  [
    "data that is not there",
    { mounts: [{ source: "/no/such", target: "/data/x" }] },
    /prologue failed \(mounts?\): .*\/no\/such/,
  ],
])("%s", async (_what, more, words) => {
  const id = await cluster.submit({ entrypoint: "echo never", ...more }, KNOWN);
  expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "prologue_failed" });
  expect(await statusOf(id)).toMatch(words);
  expect((await cluster.cli(["logs", id])).stdout).toBe("");
});

test("an image that does not fit in the busy cache waits and then fails with the reason", async () => {
  const first = await cluster.submit({ entrypoint: "sleep 600", uenv: "half/1:v1", ...SHARE }, KNOWN);
  await cluster.reaches(first, ["running"]);
  const second = await cluster.submit({ entrypoint: "true", uenv: "other/1:v1", ...SHARE }, KNOWN);
  expect(await cluster.ends(second)).toMatchObject({ state: "failed", reason: "prologue_failed" });
  expect(await statusOf(second)).toMatch(
    /prologue failed \(cache\): other\/1:v1.*the cache has no room for the \d+ bytes/,
  );
  await cluster.cli(["cancel", first]);
  await cluster.ends(first);
  // The blocking images may be evicted now.
  const third = await cluster.submit({ entrypoint: "true", uenv: "other/1:v1", ...SHARE }, KNOWN);
  expect((await cluster.ends(third)).state).toBe("completed");
});

test("a user unknown to the node never runs as root", async () => {
  const id = await cluster.submit({ entrypoint: "id -u" }, { headers: { "x-lattice-user": "stranger" } });
  expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "prologue_failed" });
  expect(await statusOf(id)).toMatch(/prologue failed \(user\): .*stranger/);
});

test("a script that is not executable exits with 126 and a missing one with 127, each by name", async () => {
  const script = join(folder, "job.sh");
  writeFileSync(script, "#!/bin/sh\necho ran\n", { mode: 0o644 });
  execFileSync("chmod", ["755", folder]);
  const locked = await cluster.submit({ command: [script] }, KNOWN);
  expect(await cluster.ends(locked)).toMatchObject({ state: "failed", reason: "exit_code", exit_code: 126 });
  const ofLocked = await statusOf(locked);
  expect(ofLocked).toContain("exit code 126: command found but not executable");
  expect(ofLocked).toContain(script);
  const missing = await cluster.submit({ command: [join(folder, "none.sh")] }, KNOWN);
  expect(await cluster.ends(missing)).toMatchObject({ state: "failed", reason: "exit_code", exit_code: 127 });
  expect(await statusOf(missing)).toContain("exit code 127: command not found");
  // The shell prints the message for a command line; the exit code is the same.
  const line = await cluster.submit({ entrypoint: "no-such-command-here" }, KNOWN);
  expect(await cluster.ends(line)).toMatchObject({ state: "failed", exit_code: 127 });
  expect((await cluster.cli(["logs", line])).stderr).toContain("no-such-command-here");
});

test.each([
  ["that is not there", { workdir: "/no/such/place" }, "does not exist: /no/such/place"],
  ["that the user may not enter", { workdir: "/root" }, "is not accessible to the user: /root"],
  ["in an image that is not there", { workdir: "/no/such/place", uenv: "half/1:v1" }, "does not exist"],
])("a working directory %s", async (_what, more, words) => {
  const id = await cluster.submit({ entrypoint: "echo never", ...more }, KNOWN);
  expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "prologue_failed" });
  const reason = `prologue failed (workdir): the working directory ${words}`;
  expect(await statusOf(id)).toContain(reason);
  // There is no output, so the command says why on the other stream.
  expect(await cluster.cli(["logs", id])).toMatchObject({ stdout: "", stderr: expect.stringContaining(reason) });
});

test("a job starts in a directory that only its user can enter, with no descriptor left open", async () => {
  execFileSync("install", ["-d", "-m", "700", "-o", "54330", "-g", "54330", join(folder, "own")]);
  const id = await cluster.submit({ entrypoint: "pwd; ls /proc/self/fd | wc -l", workdir: join(folder, "own") }, KNOWN);
  const plain = await cluster.submit({ entrypoint: "pwd; ls /proc/self/fd | wc -l" }, KNOWN);
  for (const one of [id, plain]) expect((await cluster.ends(one)).state).toBe("completed");
  const lines = async (one: string) => (await cluster.cli(["logs", one])).stdout.trim().split("\n");
  expect(await lines(id)).toEqual([join(folder, "own"), (await lines(plain))[1]]);
});

test("an output file that cannot be created fails the job with the reason", async () => {
  const id = await cluster.submit({ entrypoint: "echo never", output: { file: "/no/such/place/x.out" } }, KNOWN);
  expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "prologue_failed" });
  expect(await statusOf(id)).toMatch(
    /prologue failed \(output\): the output file: cannot create \/no\/such\/place\/x.out/,
  );
});

test("the maximum number of variables reaches the job, and ten thousand are refused with the limit", async () => {
  const env = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`V_${n}`, "x".repeat(50)]));
  const id = await cluster.submit({ entrypoint: "env | grep -c '^V_'", env }, KNOWN);
  expect((await cluster.ends(id)).state).toBe("completed");
  expect((await cluster.cli(["logs", id])).stdout).toBe("1000\n");
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`V_${n}`, "x"]));
  const refused = await cluster.api("POST", "/allocations", { body: { entrypoint: "true", env: many }, ...KNOWN });
  expect(refused.body).toMatchObject({ status: 400, code: "invalid_argument" });
  expect(refused.text).toContain("must not have more than 1024");
});

test("the node still runs work after all failures", async () => {
  const id = await cluster.submit({ entrypoint: "id -u" }, KNOWN);
  expect((await cluster.ends(id)).state).toBe("completed");
  expect((await cluster.cli(["logs", id])).stdout).toBe("54330\n");
});
