// Attacks on the identity of jobs (findings 5 and 9 of the review): names that the node's accounts take for root, a
// cluster without authentication, and the agent's secrets in programs that run as the user.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { eventually, sleep } from "../harness/eventually.ts";
import { startProgram, tailOf } from "../harness/program.ts";
import { useAccount } from "./accounts.ts";
import { STORE_KEY, useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster({ nodes: 2, config: "checkpoint: { retention: 1s }\n" });
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

test("no program that the user can read has the agent's secrets while checkpoints are removed", async () => {
  // A job has its own /tmp, but sees the home folder.
  const done = join(mallory.home, "done");
  // Reads what it can of every process until the other job's checkpoints are gone.
  const watch = `n=0; while [ ! -e ${done} ]; do for p in /proc/[0-9]*; do
    if [ -r $p/environ ]; then
      n=$((n + 1)); tr '\\0' '\\n' <$p/environ 2>/dev/null |
        grep -a -e '^LATTICE_AGENT_TOKEN=' -e '^AWS_' -e '=${STORE_KEY}'
    fi; done; done; [ $n -gt 0 ] && echo looked`;
  const watcher = await secured.submit(mallory, { command: sh(watch) });
  await secured.reaches(watcher, ["running"]);
  const fill = `save() { . $LATTICE_CHECKPOINT_REQUEST; mkdir -p $CHECKPOINT_DIR; cd $CHECKPOINT_DIR; seq 40000 | xargs touch
      echo $CHECKPOINT_NUMBER >$LATTICE_CHECKPOINT_DONE; cd /; over=1; }
    trap save USR1; while [ -z "$over" ]; do sleep 0.1; done; exit 0`;
  const filler = await secured.submit(mallory, { command: sh(fill), checkpoint: "signal" });
  await secured.reaches(filler, ["running"]);
  // The signal must not come before the trap.
  await sleep(1_000);
  const taken = await secured.as(mallory, ["checkpoint", filler]);
  expect(taken, taken.stderr).toMatchObject({ code: 0 });
  expect((await secured.ends(filler)).state).toBe("completed");
  const checkpoints = join(secured.outputDir, "default", "default", filler, "checkpoints");
  await eventually({ what: "the checkpoints are removed" }, () => (existsSync(checkpoints) ? null : true));
  mallory.run(`touch ${done}`);
  await secured.ends(watcher);
  mallory.run(`rm ${done}`);
  expect(await secured.logs(mallory, watcher)).toBe("looked\n");
});
