// Durable submissions on the embedded log, over 16 connections from another process. The nodes are drained, so that
// nothing is placed, and the scheduler runs.
import { cpuSeconds, residentBytes } from "../tests/harness/processes.ts";
import { atLeast, type Bench, below, type Progress, withoutTarget } from "./figure.ts";
import { runClient } from "./load-client.ts";
import { drainAll, withCluster } from "./with-cluster.ts";

const CONNECTIONS = 16;
const SECONDS = 12;
const WARM_UP_SECONDS = 3;
const MIN_PER_SECOND = 2_000;
const P99_MS = 50;

export const submitRest: Bench = (log) => submissions("rest-load", (cluster) => cluster.restAddress, log);
export const submitGrpc: Bench = (log) => submissions("grpc-load", (cluster) => cluster.grpcAddress, log);

async function submissions(
  client: string,
  addressOf: (cluster: { readonly restAddress: string; readonly grpcAddress: string }) => string,
  log: Progress,
) {
  return await withCluster({ nodes: 4 }, async (cluster) => {
    await drainAll(cluster);
    log(`${CONNECTIONS} connections for ${SECONDS} s`);
    const before = cpuSeconds(cluster.server.pid);
    const result = await runClient(client, {
      address: addressOf(cluster),
      connections: CONNECTIONS,
      seconds: SECONDS,
      warmUpSeconds: WARM_UP_SECONDS,
      body: { entrypoint: "true", tenant: "default" },
    });
    const used = cpuSeconds(cluster.server.pid) - before;
    if (result.failures > 0) throw new Error(`${result.failures} submissions failed`);
    const { body } = await cluster.api<{ total?: number }>("GET", "/allocations?state=pending&page_size=1");
    log(`${body.total} pending afterwards, client used ${result.cpuSeconds.toFixed(1)} s of CPU time`);
    return [
      atLeast("throughput", result.answers / result.seconds, "submissions/s", MIN_PER_SECOND),
      withoutTarget("latency_p50", result.p50Ms, "ms"),
      below("latency_p99", result.p99Ms, "ms", P99_MS),
      withoutTarget("latency_max", result.maxMs, "ms"),
      withoutTarget("server_cpu", (used / (SECONDS + WARM_UP_SECONDS)) * 100, "% of a core"),
      withoutTarget("server_memory", residentBytes(cluster.server.pid) / 1e6, "MB"),
    ];
  });
}
