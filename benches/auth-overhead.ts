// The cost of authentication: server CPU per request with a known token, compared with a cluster without
// authentication. The access log is included.
import { Agent, request } from "node:http";
import type { Cluster } from "../tests/harness/cluster.ts";
import { cpuSeconds } from "../tests/harness/processes.ts";
import { type Bench, below, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";
import { withTokens } from "./with-tokens.ts";

const CALLS = 6_000;
const AT_ONCE = 8;
const WARM_UP = 1_000;
const OVERHEAD_MS = 0.3;

export const authOverhead: Bench = async (log) => {
  const without = await withCluster({ nodes: 0 }, (cluster) => perCallMs(cluster, {}));
  log(`without authentication: ${without.toFixed(3)} ms per request`);
  const withToken = await withTokens(perCallMs);
  log(`with a token: ${withToken.toFixed(3)} ms per request`);
  return [
    below("auth_overhead_cpu", withToken - without, "ms per request", OVERHEAD_MS),
    withoutTarget("request_cpu_without_authentication", without, "ms"),
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
      if (response.statusCode !== 200) reject(new Error(`the server responded with status ${response.statusCode}`));
      response.resume().on("end", resolve);
    })
      .on("error", reject)
      .end();
  });
}
