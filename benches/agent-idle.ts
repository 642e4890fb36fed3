// Memory and CPU of an idle agent that is connected to its server.
import { readdirSync, readFileSync } from "node:fs";
import { sleep } from "../tests/harness/eventually.ts";
import { cpuSeconds, residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const SETTLE_MS = 10_000;
const MEASURE_MS = 30_000;
const MEMORY_MB = 90;
const CPU_PERCENT = 1;

export const agentIdle: Bench = (log) =>
  withCluster({ nodes: 1 }, async (cluster) => {
    const { pid } = cluster.agent("node-1");
    // One job first, so that all code is loaded.
    await cluster.ends(await cluster.submit({ entrypoint: "true" }));
    await sleep(SETTLE_MS);
    const before = cpuSeconds(pid);
    const from = performance.now();
    log(`measuring for ${MEASURE_MS / 1000} s`);
    let most = 0;
    while (performance.now() - from < MEASURE_MS) {
      most = Math.max(most, residentBytes(pid));
      await sleep(1_000);
    }
    const share = (cpuSeconds(pid) - before) / ((performance.now() - from) / 1_000);
    const standby = childrenOf(pid).reduce((sum, child) => sum + residentBytes(child), 0);
    return [
      below("agent_memory_max", most / 1e6, "MB", MEMORY_MB),
      below("agent_cpu", share * 100, "% of a core", CPU_PERCENT),
      withoutTarget("standby_processes_memory", standby / 1e6, "MB"),
    ];
  });

/** Returns all descendants. */
function childrenOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, "latin1");
      parents.set(Number(name), Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // The process has ended meanwhile.
    }
  }
  const descendantsOf = (of: number): number[] =>
    [...parents].flatMap(([child, parent]) => (parent === of ? [child, ...descendantsOf(child)] : []));
  return descendantsOf(pid);
}
