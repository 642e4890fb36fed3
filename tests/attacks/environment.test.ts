// Attacks by variables: those of a job in root's programs (finding 15), on command lines that every user sees (finding
// 21), and as the names of folders that a container gets (finding 7).
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Registry, startRegistry } from "../harness/registry.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const MOUNTER = "/sbin/mount.nfs";
const mallory = useAccount("m");
const bob = useAccount("b");
const registry: Registry = await startRegistry();
const secured = useSecuredCluster({
  agentArgs: ["--mount-allow", "nfs://filer/x", "--insecure-registry", registry.address, "--cache-min-free", "0"],
});
const sh = (script: string) => ["/bin/sh", "-c", script];
const KEY = "-----BEGIN KEY-----\nsecret-on-no-command-line\n-----END KEY-----";
const hadMounter = existsSync(MOUNTER);

/** The stand-in for the machine's own program hides that one. */
beforeAll(() => {
  const standIn = join(secured.victim, "mount.nfs");
  writeFileSync(standIn, `#!/bin/sh\nenv >${join(secured.victim, "environ")}\nexec mount -t tmpfs stand-in "$2"\n`);
  chmodSync(standIn, 0o755);
  if (!hadMounter) writeFileSync(MOUNTER, "");
  execFileSync("mount", ["--bind", standIn, MOUNTER]);
});
afterAll(async () => {
  execFileSync("umount", ["--lazy", MOUNTER]);
  if (!hadMounter) rmSync(MOUNTER, { force: true });
  await registry.close();
});

test("a program of root's that mounts has no variable of the job", async () => {
  const id = await secured.submit(mallory, {
    command: sh("echo $OPENSSL_CONF $SSLKEYLOGFILE $LD_AUDIT"),
    variables: { OPENSSL_CONF: "/o.cnf", SSLKEYLOGFILE: "/keys", LD_AUDIT: "x", PATH: "/evil:/usr/bin:/bin" },
    data: { mounts: [{ source: "nfs://filer/x", target: "/mnt/nfs" }] },
  });
  expect(await secured.ends(id)).toMatchObject({ state: "completed" });
  const environ = readFileSync(join(secured.victim, "environ"), "utf8");
  expect(environ).not.toMatch(/OPENSSL_CONF|SSLKEYLOGFILE|LD_AUDIT|evil|LATTICE/);
  expect(await secured.logs(mallory, id)).toContain("/o.cnf /keys x");
});

/** Returns what another user saw of the secret on command lines while the jobs ran. */
async function watched(bodies: readonly Record<string, unknown>[]): Promise<string> {
  const seen = join("/var/tmp", `seen-${bob.name}`);
  const look = `while :; do for f in /proc/[0-9]*/cmdline; do grep -aqs "secret-on-no-comman[d]" $f && echo $f >>${seen}; done; done`;
  const stop = bob.keepRunning(look);
  for (const body of bodies) {
    const id = await secured.submit(mallory, body);
    const ended = await secured.ends(id);
    expect(ended, ended.message).toMatchObject({ state: "completed" });
    expect(await secured.logs(mallory, id)).toContain("secret-on-no-command-line");
  }
  stop();
  const found = existsSync(seen) ? readFileSync(seen, "utf8") : "";
  rmSync(seen, { force: true });
  return found;
}

test("values with line ends and odd names are on no command line", async () => {
  const image = registry.push("plain", ["/usr/bin/grep", "/usr/bin/env", "/usr/bin/sleep"]);
  const plain = { command: sh("sleep 0.3; env"), variables: { "odd.name": "secret-on-no-command-line", KEY } };
  const container = { image, entrypoint: '/usr/bin/sleep 1; echo "$KEY"', workdir: "/", variables: { KEY } };
  expect(await watched([plain, plain, plain, container])).toBe("");
});

test("variables of a submission name no folder of the node for its container", async () => {
  bob.run("mkdir -m 755 ~/p; echo secret-of-bob >~/p/s");
  const image = registry.push("cat", ["/usr/bin/cat"]);
  const path = `${bob.home}/p`;
  for (const name of ["LATTICE_CHECKPOINT_CONTROL", "LATTICE_OUTPUT_DIR", "LATTICE_SCRATCH", "LATTICE_CA"]) {
    const entrypoint = `/usr/bin/cat ${path}/s`;
    const id = await secured.submit(mallory, { image, entrypoint, workdir: "/", variables: { [name]: path } });
    expect(await secured.ends(id)).toMatchObject({ state: "failed" });
    expect(await secured.logs(mallory, id)).not.toContain("secret-of-bob");
  }
});

test("the secrets of an ended container are removed", async () => {
  const oci = join(secured.cluster.dir, "agent-n1", "cache", "oci", "secrets");
  await eventually({ what: "no secret is left" }, async () =>
    !existsSync(oci) || readdirSync(oci).length === 0 ? true : null,
  );
});
