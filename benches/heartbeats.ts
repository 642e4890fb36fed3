// Server CPU for 10,000 hollow nodes with a heartbeat every 10 s.
import { sleep } from "../tests/harness/eventually.ts";
import { cpuSeconds, residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, withoutTarget } from "./figure.ts";
import { startHollow } from "./hollow-nodes.ts";
import { withCluster } from "./with-cluster.ts";

const NODES = 10_000;
const SETTLE_MS = 30_000;
const MEASURE_MS = 60_000;
const CPU_PERCENT = 10;

export const heartbeats: Bench = (log) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    const began = Date.now();
    await startHollow(cluster, NODES);
    log(`${NODES} nodes ready after ${((Date.now() - began) / 1000).toFixed(1)} s; settling`);
    await sleep(SETTLE_MS);
    const { pid } = cluster.server;
    const before = cpuSeconds(pid);
    const from = Date.now();
    log(`measuring for ${MEASURE_MS / 1000} s`);
    await sleep(MEASURE_MS);
    const share = ((cpuSeconds(pid) - before) * 1000) / (Date.now() - from);
    const { body } = await cluster.api<{ total?: number }>("GET", "/nodes?state=ready&page_size=1");
    if (body.total !== NODES) throw new Error(`only ${body.total} nodes were ready at the end`);
    return [
      below("server_cpu", share * 100, "% of a core", CPU_PERCENT),
      withoutTarget("server_memory", residentBytes(pid) / 1e6, "MB"),
    ];
  });
