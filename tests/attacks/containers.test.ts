// Attacks by the folders of a container: sources below another's home, and folders that the container runtime would
// make as root in mounted data.
import { existsSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { startRegistry } from "../harness/registry.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const bob = useAccount("b");
const registry = await startRegistry();
const image = registry.push("tool", ["/bin/cat"]);
const secured = useSecuredCluster({
  agentArgs: ["--insecure-registry", registry.address, "--cache-min-free", "0"],
});
afterAll(() => registry.close());

async function run(body: Record<string, unknown>) {
  const id = await secured.submit(mallory, { image, ...body });
  return { ended: await secured.ends(id), output: await secured.logs(mallory, id) };
}

test("a container gets no folder below another's home", async () => {
  bob.run("mkdir -m 755 ~/p; echo secret-of-bob >~/p/s");
  const mounts = [{ source: `${bob.home}/p`, target: "/data" }];
  const { ended, output } = await run({ command: ["/bin/cat", "/data/s"], data: { mounts } });
  expect(ended).toMatchObject({ state: "failed" });
  expect(ended.message).toContain("(mounts)");
  expect(ended.message).toContain("may not read the source");
  expect(output).not.toContain("secret-of-bob");
});

test("the working directory of a container is never made in a folder of another user", async () => {
  const [top, victim] = [`${mallory.home}/top`, `/var/tmp/lattice-of-bob-${process.pid}`];
  mallory.run(`mkdir ${top}; chmod 777 ${top}; chmod 711 ~`);
  bob.run(`mkdir -m 755 ${top}/of-bob; mkdir -m 755 ${victim}`);
  const writable = (source: string) => ({ mounts: [{ source, target: "/data", access: "read-write" }] });
  const inside = { command: ["/bin/true"], workdir: "/data/of-bob/new", data: writable(top) };
  const { ended } = await run(inside);
  expect(ended).toMatchObject({ state: "failed" });
  expect(ended.message).toContain("the working directory does not exist: /data/of-bob/new");
  const refused = await run({ command: ["/bin/true"], workdir: "/data/new", data: writable(victim) });
  expect(refused.ended.message).toContain(`may not write to ${victim}`);
  expect([`${top}/of-bob/new`, `${victim}/new`].filter((path) => existsSync(path))).toEqual([]);
  bob.run(`rm -r ${victim}`);
});
