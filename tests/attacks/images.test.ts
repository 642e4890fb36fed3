// Attacks on the store of container images (finding 8 of the review): archives and folders of the node in the place of a
// registry, images that pretend to be the site's, and registries that the site does not allow.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePorts } from "../harness/quorum.ts";
import { type Registry, startRegistry } from "../harness/registry.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const bob = useAccount("b");
const registry: Registry = await startRegistry();
const [port] = await freePorts(1);
/** A registry that does not answer. */
const away = `127.0.0.1:${port}`;
const folder = mkdtempSync(join(tmpdir(), "lattice-evil-"));
const archive = join(folder, "evil.tar");
const secured = useSecuredCluster({
  agentArgs: [
    ...["--insecure-registry", registry.address, "--insecure-registry", away, "--cache-min-free", "0"],
    ...["--allow-registry", registry.address, "--allow-registry", `${away}/site`],
  ],
});
let good = "";

beforeAll(() => {
  good = registry.push("good", []);
  chmodSync(folder, 0o755);
  const store = ["--root", join(folder, "store"), "--runroot", join(folder, "run"), "--cgroup-manager", "cgroupfs"];
  const podman = (...words: string[]) => execFileSync("podman", [...store, ...words], { stdio: "pipe" });
  podman("pull", "-q", "--tls-verify=false", `docker://${good}`);
  podman("tag", good, `${away}/site/tool:latest`);
  podman("save", "-q", "-o", archive, `${away}/site/tool:latest`);
  podman("rmi", "-af");
  chmodSync(archive, 0o644);
});
let isOpen = true;
async function closeRegistry(): Promise<void> {
  if (isOpen) await registry.close();
  isOpen = false;
}
afterAll(async () => {
  await closeRegistry();
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

const cache = () => join(secured.cluster.dir, "agent-n1", "cache", "oci");
const inStore = (): string =>
  existsSync(join(cache(), "store"))
    ? execFileSync("podman", [
        ...["--root", join(cache(), "store"), "--runroot", join(cache(), "run"), "--cgroup-manager", "cgroupfs"],
        ...["images", "-a", "--format", "{{.Repository}}:{{.Tag}}"],
      ]).toString()
    : "";

test.each([
  `docker-archive:${archive}`,
  "docker-archive:evil.tar",
  "dir:x",
  "oci:x",
  "docker-daemon:site/tool:latest",
  "containers-storage:site/tool",
  "--all-tags",
])("%s is refused to jobs and to the cache", async (image) => {
  const warmed = await secured.as(mallory, ["cache", "warm", "--node=n1", `--image=${image}`]);
  expect(warmed.code).not.toBe(0);
  expect(warmed.stderr).toMatch(/transport|not the name of a container image/);
  await expect(secured.submit(mallory, { command: ["/bin/true"], image })).rejects.toThrow(/400.*image/s);
  expect(inStore()).toBe("");
});

test("an image in the store that is called like the site's is not run when its registry is away", async () => {
  // As an agent of an earlier version took it from mallory.
  execFileSync("podman", [
    ...["--root", join(cache(), "store"), "--runroot", join(cache(), "run"), "--cgroup-manager", "cgroupfs"],
    ...["load", "-q", "-i", archive],
  ]);
  expect(inStore()).toContain(`${away}/site/tool:latest`);
  const id = await secured.submit(bob, { command: ["/bin/echo", "mallory's"], image: `${away}/site/tool:latest` });
  const ended = await secured.ends(id);
  expect(ended).toMatchObject({ state: "failed", reason: "prologue_failed" });
  expect(ended.message).toContain("cannot pull");
  expect(await secured.logs(bob, id)).toBe("");
});

test("a registry that the site does not allow is refused by name", async () => {
  const image = "evil.example.org/tool:1";
  const id = await secured.submit(mallory, { command: ["/bin/true"], image });
  const ended = await secured.ends(id);
  expect(ended.message).toContain("evil.example.org/tool:1: this node takes images from");
  expect(ended.message).toContain("--allow-registry");
});

test("an image of an allowed registry runs, and the cache lists it also while the registry is away", async () => {
  const run = async () => {
    const id = await secured.submit(bob, { command: ["/bin/echo", "good"], image: good });
    const ended = await secured.ends(id);
    expect(ended.state, ended.message).toBe("completed");
    expect(await secured.logs(bob, id)).toBe("good\n");
  };
  const warmed = await secured.as(bob, ["cache", "warm", "--node=n1", `--image=${good}`]);
  expect(warmed, warmed.stderr).toMatchObject({ code: 0 });
  expect((await secured.as(bob, ["cache", "status", "--node=n1"])).stdout).toContain(good);
  await run();
  await closeRegistry();
  await run();
});
