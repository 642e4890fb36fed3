// Attacks by the folders of a container: sources below another's home, and folders that the container runtime would
// make as root in mounted data.
import { existsSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { HOST } from "../harness/host.ts";
import { startRegistry } from "../harness/registry.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const bob = useAccount("b");
const registry = await startRegistry();
const image = registry.push("tool", ["/bin/cat"]);
const slow = await stallingRegistry(registry.address);
const secured = useSecuredCluster({
  agentArgs: ["--insecure-registry", registry.address, "--insecure-registry", slow.address, "--cache-min-free", "0"],
});
afterAll(async () => {
  slow.close();
  await registry.close();
});

/** Passes everything on to a registry, the layers of images only after `release`. */
async function stallingRegistry(address: string) {
  const waiting: (() => void)[] = [];
  let isStalling = true;
  let noteStalled: () => void = () => undefined;
  const stalled = new Promise<void>((resolve) => {
    noteStalled = resolve;
  });
  const server = createServer((incoming, outgoing) => {
    const pass = (): void => {
      const { url = "/", method, headers } = incoming;
      const passed = request(`http://${address}${url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      passed.on("error", () => outgoing.destroy());
      incoming.pipe(passed);
    };
    if (!isStalling || incoming.url?.includes("/blobs/") !== true) return pass();
    waiting.push(pass);
    noteStalled();
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return {
    address: `${HOST}:${(server.address() as AddressInfo).port}`,
    stalled,
    release() {
      isStalling = false;
      for (const pass of waiting.splice(0)) pass();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

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

test("a folder that is swapped for one of another's while the image is fetched is not mounted", async () => {
  bob.run("mkdir -m 755 ~/w; echo secret-of-bob >~/w/s");
  mallory.run("mkdir -m 755 ~/src; echo mine >~/src/s");
  const stalled = image.replace(registry.address, slow.address);
  const mounts = [{ source: `${mallory.home}/src`, target: "/data" }];
  const id = await secured.submit(mallory, { image: stalled, command: ["/bin/cat", "/data/s"], data: { mounts } });
  await slow.stalled;
  mallory.run(`mv ~/src ~/was; ln -s ${bob.home}/w ~/src`);
  slow.release();
  const ended = await secured.ends(id);
  expect(ended).toMatchObject({ state: "failed" });
  expect(ended.message).toContain("(mounts)");
  expect(await secured.logs(mallory, id)).not.toContain("secret-of-bob");
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
