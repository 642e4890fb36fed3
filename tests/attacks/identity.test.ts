// Attacks on the identity of jobs (finding 9 of the review): names that the node's accounts take for root, and a cluster
// without authentication.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { startProgram, tailOf } from "../harness/program.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster();
const sh = (script: string) => ["/bin/sh", "-c", script];

test.each([
  ["0", "it is a number, not a name"],
  ["4294967295", "it is a number, not a name"],
  ["root", "jobs never run as root"],
  ["daemon", "it is a system account"],
  ["nobody", "is reserved"],
])("a valid token of the user %s starts no job", async (name, why) => {
  const id = await secured.submit({ ...mallory, name }, { command: sh("id") });
  const ended = await secured.ends(id);
  expect(ended).toMatchObject({ state: "failed", reason: "prologue_failed" });
  expect(ended.message).toContain(why);
});

test("a job runs under the account of its token", async () => {
  const id = await secured.submit(mallory, { command: sh("id -u; id -g") });
  expect((await secured.ends(id)).state).toBe("completed");
  expect(await secured.logs(mallory, id)).toBe(`${mallory.uid}\n${mallory.gid}\n`);
});

test("a root agent leaves a cluster without authentication, and serves it when that is allowed", async () => {
  const cluster = new Cluster({ nodes: 1 });
  const dir = mkdtempSync(join(tmpdir(), "lattice-open-"));
  const args = ["--node-id", "node-1", "--data-dir", dir, "--metrics-listen", "none", "--user-mapping", "passwd"];
  try {
    await cluster.startServer();
    const logFile = join(cluster.dir, "refusing.log");
    const refusing = startProgram("lattice-agent", { args: [...args, "--server", cluster.grpcAddress], logFile });
    expect(await refusing.ended).toBe(1);
    expect(tailOf(logFile, 20)).toMatch(/"cannot serve"/);
    expect(tailOf(logFile, 20)).toContain("the cluster does not authenticate its users");
    expect(tailOf(logFile, 20)).toContain("--allow-unauthenticated");
    cluster.startAgent("node-1", ["--user-mapping", "passwd", "--allow-unauthenticated"]);
    await cluster.nodesReady();
    const headers = { "x-lattice-user": "0" };
    const id = await cluster.submit({ command: sh("id"), workdir: "/", walltime: "5m" }, { headers });
    expect((await cluster.ends(id)).state).toBe("failed");
  } finally {
    await cluster.close();
    rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
  }
});
