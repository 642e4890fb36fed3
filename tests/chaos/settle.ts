// The end of a run: no faults, no submissions; everything must finish. The check judges what does not.
import { sleep } from "../harness/eventually.ts";
import type { AllocationJson } from "../harness/rest.ts";
import type { ChaosCluster } from "./cluster.ts";
import { notReady, waitUntil } from "./faults/recovery.ts";
import type { EndState, Poll } from "./history.ts";
import type { Load } from "./load/load.ts";
import type { Ledger } from "./watch/ledger.ts";
import { pollOf } from "./watch/polls.ts";

const REST_WITHIN_MS = 120_000;
const AGREE_WITHIN_MS = 30_000;
const OPEN_STATES = ["pending", "staging", "running", "checkpointing", "suspended"] as const;

export async function settle(cluster: ChaosCluster, ledger: Ledger, load: Load): Promise<EndState> {
  await waitUntil(REST_WITHIN_MS, async () => {
    const open = await listed(cluster, 1, OPEN_STATES.map((state) => `state=${state}`).join("&")).catch(() => null);
    return open?.size === 0 && ledger.living().length === 0;
  });
  await waitUntil(AGREE_WITHIN_MS, async () => (await notReady(cluster).catch(() => [""])).length === 0);
  let servers: readonly Poll[] = [];
  await waitUntil(AGREE_WITHIN_MS, async () => {
    servers = (await Promise.all(cluster.servers.map(({ n }) => pollOf(cluster, n).catch(() => null)))).filter(
      (poll) => poll !== null,
    );
    return servers.length === cluster.servers.length && new Set(servers.map(({ index }) => index)).size === 1;
  });
  await sleep(500);
  const allocations = new Map<string, ReadonlyMap<string, string | null>>();
  for (const { n } of cluster.servers) allocations.set(`server-${n}`, await statesOn(cluster, n, load));
  return {
    allocations,
    servers,
    nodesNotReady: await notReady(cluster).catch((error: Error) => [error.message]),
    left: ledger.living().map(({ allocation, attempt, node }) => `${allocation}.${attempt} still runs on ${node}`),
  };
}

async function statesOn(cluster: ChaosCluster, n: number, load: Load): Promise<ReadonlyMap<string, string | null>> {
  const all = await listed(cluster, n, "").catch(() => new Map<string, string>());
  const states = new Map<string, string | null>();
  for (const { id } of load.submissions) {
    if (id !== null) states.set(id, all.get(id) ?? (await stateOf(cluster, n, id)));
  }
  return states;
}

async function stateOf(cluster: ChaosCluster, n: number, id: string): Promise<string | null> {
  const answer = await cluster.api<AllocationJson>(n, "GET", `/allocations/${id}`).catch(() => null);
  return answer?.status === 200 ? answer.body.state : null;
}

/** Page by page. */
async function listed(cluster: ChaosCluster, n: number, query: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let token = ""; ; ) {
    const path = `/allocations?page_size=500&${query}&page_token=${encodeURIComponent(token)}`;
    const answer = await cluster.api<{ allocations?: AllocationJson[]; next_page_token?: string }>(n, "GET", path);
    if (answer.status !== 200) throw new Error(`list: ${answer.status} ${answer.text}`);
    for (const { id, state } of answer.body.allocations ?? []) found.set(id, state);
    token = answer.body.next_page_token ?? "";
    if (token === "") return found;
  }
}
