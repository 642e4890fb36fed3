// Software images for users and operators: a folder becomes a registry; images are listed, pulled, used and tested;
// `lattice status` shows what is wrong with one.
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { isAlive } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

const registry = mkdtempSync(join(tmpdir(), "lattice-registry-"));
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
writeFileSync(join(registry, "public.pem"), publicKey.export({ type: "spki", format: "pem" }));
writeFileSync(join(registry, "private.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
const view = { env: { values: { list: { PATH: [{ op: "prepend", value: ["/user-environment/bin"] }] }, scalar: {} } } };
makeImage("prgenv-gnu_24.11_v1", {
  "bin/greet": "#!/bin/sh\necho greetings from the image\n",
  "meta/env.json": JSON.stringify({ name: "prgenv-gnu", mount: "/user-environment", views: { default: view } }),
});
makeImage("broken_1_v1", { "bin/x": "x".repeat(9000) });

const cluster = useCluster({
  nodes: 2,
  agentArgs: ["--registry", registry, "--trusted-key", join(registry, "public.pem"), "--cache-min-free", "0"],
});
afterAll(() => rmSync(registry, { recursive: true, force: true, maxRetries: 9 }));

function makeImage(name: string, files: Readonly<Record<string, string>>): void {
  const tree = mkdtempSync(join(tmpdir(), "lattice-tree-"));
  chmodSync(tree, 0o755);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(tree, path, ".."), { recursive: true });
    writeFileSync(join(tree, path), text, { mode: 0o755 });
  }
  const image = join(registry, `${name}.squashfs`);
  execFileSync("mksquashfs", [tree, image, "-noappend", "-quiet", "-no-progress"], { stdio: "ignore" });
  rmSync(tree, { recursive: true, maxRetries: 9 });
}

test("an indexed folder of images serves nodes as a registry", async () => {
  const indexed = await cluster.cli(["uenv", "index", registry, "--sign", join(registry, "private.pem")]);
  expect(indexed, indexed.stderr).toMatchObject({ code: 0 });
  const listed = await cluster.cli(["uenv", "list"]);
  expect(listed.stdout).toMatch(/prgenv-gnu\/24.11:v1 +[0-9a-f]{12} +[\d.]+ kB|B +yes +default/);
  const inspected = await cluster.cli(["uenv", "inspect", "prgenv-gnu/24.11:v1"]);
  expect(inspected.stdout).toMatch(/Digest: +sha256:[0-9a-f]{64}\n/);
  expect(inspected.stdout).toContain("Views:        default\n");
  const missing = await cluster.cli(["uenv", "inspect", "no/such:v1"]);
  expect(missing.code).not.toBe(0);
  expect(missing.stderr).toContain("image not found");
});

test("an image can be pulled to all nodes, shown, used and evicted", async () => {
  const pulled = await cluster.cli(["uenv", "pull", "prgenv-gnu/24.11:v1"]);
  expect(pulled, pulled.stderr).toMatchObject({ code: 0 });
  const status = await cluster.cli(["cache", "status", "-o", "json"]);
  const nodes = (JSON.parse(status.stdout) as { nodes: { images: { name: string }[] }[] }).nodes;
  expect(nodes.map(({ images }) => images.map(({ name }) => name))).toEqual([
    ["prgenv-gnu/24.11:v1"],
    ["prgenv-gnu/24.11:v1"],
  ]);
  const args = ["submit", "--wait", "--uenv=prgenv-gnu/24.11:v1", "--view=default", "--sign-required", "--", "greet"];
  const done = await cluster.cli(args);
  expect(done, done.stderr).toMatchObject({ code: 0 });
  const id = /allocation (\d+)/.exec(done.stdout)?.[1] ?? "";
  expect((await cluster.cli(["logs", id])).stdout).toBe("greetings from the image\n");
  const tested = await cluster.cli(["uenv", "test", "prgenv-gnu/24.11:v1", "--view=default", "--", "greet"]);
  expect(tested.stdout).toMatch(/^greetings from the image\nprgenv-gnu\/24.11:v1 works on node-\d/);
  const failing = await cluster.cli(["uenv", "test", "prgenv-gnu/24.11:v1", "--", "sh", "-c", "echo no >&2; exit 3"]);
  expect(failing.code).not.toBe(0);
  expect(failing.stderr).toMatch(/^no\n.*exit code 3/);
  const evicted = await cluster.cli(["cache", "evict", "--image=prgenv-gnu/24.11:v1", "--node=node-1"]);
  expect(evicted, evicted.stderr).toMatchObject({ code: 0 });
  const again = await cluster.cli(["cache", "evict", "--image=prgenv-gnu/24.11:v1", "--node=node-1"]);
  expect(again.stderr).toContain("node-1: prgenv-gnu/24.11:v1 is not in the cache");
});

test("a tampered image fails on every node with the reason in the status", async () => {
  const path = join(registry, "broken_1_v1.squashfs");
  const bytes = readFileSync(path);
  bytes[300] = (bytes[300] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
  const id = await cluster.submit({ entrypoint: "true", uenv: "broken/1:v1" });
  const ended = await cluster.ends(id);
  expect(ended).toMatchObject({ state: "failed", reason: "prologue_failed" });
  const { stdout } = await cluster.cli(["status", id]);
  expect(stdout).toMatch(/Message: +node node-\d: prologue failed \(image\): broken\/1:v1: hash mismatch/);
  expect(stdout).toContain("no other node could run it");
  expect(stdout).toMatch(/Attempt: +2/);
});

test.each([
  ["a target with ..", { mounts: [{ source: "/tmp", target: "/data/../etc" }] }, "must not contain . or .."],
  ["a target outside the roots", { mounts: [{ source: "/tmp", target: "/usr/lib" }] }, "must lie under one of"],
  ["an image and a uenv", { uenv: "a/1:v1", image: "b" }, "does not go together"],
  ["ten thousand variables", { env: Object.fromEntries(manyVariables()) }, "must not have more than 1024"],
])("%s is refused at submission", async (_what, more, words) => {
  const answer = await cluster.api("POST", "/allocations", { body: { entrypoint: "true", ...more } });
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toContain(words);
});

function manyVariables(): [string, string][] {
  return Array.from({ length: 10_000 }, (_, i) => [`V${i}`, "x"]);
}

test.each([
  ["", {}],
  [", in an image", { uenv: "prgenv-gnu/24.11:v1" }],
])("a working directory that no node has%s is tried on every node", async (_what, more) => {
  const id = await cluster.submit({ entrypoint: "true", workdir: "/no/such/place", ...more });
  expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "prologue_failed" });
  const { stdout } = await cluster.cli(["status", id]);
  expect(stdout).toMatch(/prologue failed \(workdir\): the working directory does not exist.*: \/no\/such\/place/);
  expect(stdout).toMatch(/Attempt: +2/);
});

test.each([
  ["a missing command", ["/no/such/command"], 127, "command not found"],
  ["a script that cannot be executed", ["/etc/passwd"], 126, "not executable"],
])("%s is named in the status", async (_what, command, code, words) => {
  const id = await cluster.submit({ command });
  expect(await cluster.ends(id)).toMatchObject({ state: "failed", exit_code: code });
  expect((await cluster.cli(["status", id])).stdout).toContain(words);
});

test("an attempt keeps its image after an agent kill, and the next agent cleans up", async () => {
  const id = await cluster.submit({
    entrypoint: 'echo "$LATTICE_SCRATCH"; touch "$LATTICE_SCRATCH/x"; sleep 600',
    uenv: "prgenv-gnu/24.11:v1",
    required_nodes: ["node-2"],
  });
  await cluster.reaches(id, ["running"]);
  const dataDir = join(cluster.dir, "agent-node-2");
  const dir = join(dataDir, "attempts", `${id}.1`);
  const pid = Number(
    await eventually({ what: "the attempt is in its namespace" }, async () =>
      existsSync(join(dir, "init.pid")) ? readFileSync(join(dir, "init.pid"), "utf8") : null,
    ),
  );
  await cluster.agent("node-2").kill();
  expect(isAlive(pid)).toBe(true);
  expect(readFileSync(`/proc/${pid}/mounts`, "utf8")).toContain("/user-environment squashfs");
  process.kill(pid, "SIGKILL");
  cluster.startAgent("node-2");
  expect((await cluster.ends(id)).state).toBe("failed");
  const left = () => readdirSync(join(dataDir, "scratch"), { recursive: true, encoding: "utf8" });
  await eventually({ what: "its scratch folder is gone" }, async () =>
    left().every((path) => path.startsWith(".trash") && !path.endsWith("/x")) ? true : null,
  );
  expect(isAlive(pid)).toBe(false);
});
