// What it costs to know who calls: processor time of the server per request with a token that it has seen before,
// beyond that of a cluster which asks nobody. The access log is part of it.
import { Agent, request } from "node:http";
import type { Cluster } from "../tests/harness/cluster.ts";
import { cpuSeconds } from "../tests/harness/processes.ts";
import { type Bench, below, plain } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";
import { withTokens } from "./with-tokens.ts";

const CALLS = 6_000;
const AT_ONCE = 8;
const WARM_UP = 1_000;
const OVERHEAD_MS = 0.3;

export const authOverhead: Bench = async (say) => {
  const without = await withCluster({ nodes: 0 }, (cluster) => perCallMs(cluster, {}));
  say(`without: ${without.toFixed(3)} ms`);
  const withToken = await withTokens(perCallMs);
  say(`with: ${withToken.toFixed(3)} ms`);
  return [
    below("auth_overhead_cpu", withToken - without, "ms per request", OVERHEAD_MS),
    plain("request_cpu_without", without, "ms"),
  ];
};

async function perCallMs(cluster: Cluster, headers: Readonly<Record<string, string>>): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const calls = async (count: number) => {
    let left = count;
    const one = async () => {
      while (left-- > 0) await call(cluster.apiUrl, headers, agent);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  };
  await calls(WARM_UP);
  const before = cpuSeconds(cluster.server.pid);
  await calls(CALLS);
  const used = cpuSeconds(cluster.server.pid) - before;
  agent.destroy();
  return (used * 1_000) / CALLS;
}

function call(url: string, headers: Readonly<Record<string, string>>, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    request(`${url}/api/v1/nodes`, { headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`answered with ${response.statusCode}`));
      response.resume().on("end", resolve);
    })
      .on("error", reject)
      .end();
  });
}
