// An agent with nothing to do, connected to its server: what it takes all day on every node.
import { readdirSync, readFileSync } from "node:fs";
import { sleep } from "../tests/harness/eventually.ts";
import { cpuSeconds, residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, plain } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const SETTLE_MS = 10_000;
const MEASURE_MS = 30_000;
const MEMORY_MB = 90;
const CPU_PERCENT = 1;

export const agentIdle: Bench = (say) =>
  withCluster({ nodes: 1 }, async (cluster) => {
    const { pid } = cluster.agent("node-1");
    // One job first: what it made the agent load stays loaded.
    await cluster.ends(await cluster.submit({ entrypoint: "true" }));
    await sleep(SETTLE_MS);
    const before = cpuSeconds(pid);
    const from = performance.now();
    say(`measuring for ${MEASURE_MS / 1000} s`);
    let most = 0;
    while (performance.now() - from < MEASURE_MS) {
      most = Math.max(most, residentBytes(pid));
      await sleep(1_000);
    }
    const share = (cpuSeconds(pid) - before) / ((performance.now() - from) / 1_000);
    const beside = childrenOf(pid).reduce((sum, child) => sum + residentBytes(child), 0);
    return [
      below("agent_memory_most", most / 1e6, "MB", MEMORY_MB),
      below("agent_cpu", share * 100, "% of a core", CPU_PERCENT),
      plain("processes_that_wait_for_work", beside / 1e6, "MB"),
    ];
  });

/** All the way down. */
function childrenOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, "latin1");
      parents.set(Number(name), Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // Gone meanwhile.
    }
  }
  const below = (of: number): number[] =>
    [...parents].flatMap(([child, parent]) => (parent === of ? [child, ...below(child)] : []));
  return below(pid);
}
