// Start latency on the node: from an order to the process it starts, bare and inside a cached image, as the agent's user
// and as another user. An order is on disk when it arrives; the job writes the time at which it runs.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "../tests/harness/cluster.ts";
import { sleep } from "../tests/harness/eventually.ts";
import { type Bench, below, type Figure, type Progress, quantile, withoutTarget } from "./figure.ts";
import { JOB_USERS, type JobUser, withCluster } from "./with-cluster.ts";

const RUNS = 60;
const WARM_UP_RUNS = 5;
/** Pause until the node is idle again. */
const PAUSE_MS = 20;
const BARE_P50_MS = 15;
const UENV_OVERHEAD_MS = 30;

export const agentStart: Bench = async (log) => {
  const registry = mkdtempSync(join(tmpdir(), "lattice-registry-"));
  const tree = mkdtempSync(join(tmpdir(), "lattice-tree-"));
  writeFileSync(join(tree, "file"), "content");
  execFileSync("mksquashfs", [tree, join(registry, "bench_1_v1.squashfs"), "-quiet", "-no-progress"], {
    stdio: "ignore",
  });
  try {
    const figures: Figure[] = [];
    for (const jobUser of JOB_USERS) {
      const agentArgs = ["--registry", registry, "--cache-min-free", "0", ...jobUser.agentArgs];
      figures.push(
        ...(await withCluster({ nodes: 1, agentArgs }, (cluster) => measure(cluster, { registry, jobUser }, log))),
      );
    }
    return figures;
  } finally {
    for (const folder of [registry, tree]) rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
  }
};

interface Setting {
  readonly registry: string;
  readonly jobUser: JobUser;
}

async function measure(cluster: Cluster, { registry, jobUser }: Setting, log: Progress): Promise<Figure[]> {
  const indexed = await cluster.cli(["uenv", "index", registry]);
  if (indexed.code !== 0) throw new Error(indexed.stderr);
  const bare: number[] = [];
  const uenv: number[] = [];
  for (let run = 0; run < WARM_UP_RUNS + RUNS; run += 1) {
    for (const [latencies, more] of [[bare, {}] as const, [uenv, { uenv: "bench/1:v1" }] as const]) {
      const latency = await once(cluster, more, jobUser.user);
      if (run >= WARM_UP_RUNS) latencies.push(latency);
    }
    if (run % 20 === 0) log(`${run} of ${WARM_UP_RUNS + RUNS}`);
  }
  const [p50, p50InUenv] = [quantile(bare, 0.5), quantile(uenv, 0.5)];
  if (jobUser.suffix !== "") {
    return [
      withoutTarget(`order_to_exec_bare${jobUser.suffix}_p50`, p50, "ms"),
      withoutTarget(`uenv_overhead${jobUser.suffix}_p50`, p50InUenv - p50, "ms"),
    ];
  }
  return [
    below("order_to_exec_bare_p50", p50, "ms", BARE_P50_MS),
    below("uenv_overhead_p50", p50InUenv - p50, "ms", UENV_OVERHEAD_MS),
  ];
}

async function once(cluster: Cluster, more: Readonly<Record<string, string>>, user: string): Promise<number> {
  const headers = { "x-lattice-user": user };
  const id = await cluster.submit({ command: ["date", "+%s%N"], ...more }, { headers });
  const record = await cluster.ends(id);
  if (record.state !== "completed") throw new Error(`the job ended as ${record.state}: ${record.message}`);
  const dir = join(cluster.dir, "agent-node-1", "ended", `${id}.1`);
  for (let look = 0; ; look += 1) {
    try {
      const startedAt = Number(readFileSync(join(dir, "stdout"), "utf8")) / 1e6;
      await sleep(PAUSE_MS);
      return startedAt - statSync(join(dir, "order.json")).mtimeMs;
    } catch (error) {
      if (look > 100) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
