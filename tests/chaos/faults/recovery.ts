// Conditions soon after any fault: every server is ready and accepts a submission, and every node is ready.
import { eventually, sleep } from "../../harness/eventually.ts";
import type { NodeJson } from "../../harness/rest.ts";
import { type ChaosCluster, NODES } from "../cluster.ts";
import type { FaultContext } from "./fault.ts";

const WITHIN_MS = 60_000;

export async function recovered({ cluster, load }: FaultContext): Promise<readonly string[]> {
  const complaints: string[] = [];
  for (const { n } of cluster.servers) {
    await eventually({ what: `server ${n} is ready`, withinMs: WITHIN_MS, everyMs: 200 }, async () =>
      (await isReady(cluster, n)) ? true : null,
    ).catch((error: Error) => complaints.push(error.message));
  }
  await eventually({ what: "every node is ready", withinMs: WITHIN_MS, everyMs: 300 }, async () =>
    (await notReady(cluster)).length === 0 ? true : null,
  ).catch(async (error: Error) =>
    complaints.push(`${error.message}: ${(await notReady(cluster).catch(String)).toString()}`),
  );
  for (const { n } of cluster.servers) {
    await load.one({ seconds: 0.1, first: n }).catch((error: Error) => complaints.push(error.message));
  }
  return complaints;
}

export async function isReady(cluster: ChaosCluster, n: number): Promise<boolean> {
  const answer = await cluster.api(n, "GET", "/readyz").catch(() => null);
  return answer?.status === 200;
}

/** Nodes that are not ready and connected, according to any server. */
export async function notReady(cluster: ChaosCluster): Promise<readonly string[]> {
  const answer = await cluster.api<{ nodes?: NodeJson[] }>(await cluster.leader(), "GET", "/nodes");
  const ready = (answer.body.nodes ?? []).filter((node) => node.state === "ready" && node.connected === true);
  const missing = NODES - (answer.body.nodes ?? []).length;
  const names = (answer.body.nodes ?? [])
    .filter((node) => !ready.includes(node))
    .map(({ id, state }) => `${id} ${state}`);
  return missing > 0 ? [...names, `${missing} unknown`] : names;
}

/** Waits until the condition holds; false when it never does. */
export async function waitUntil(withinMs: number, look: () => Promise<boolean> | boolean): Promise<boolean> {
  const until = Date.now() + withinMs;
  for (;;) {
    if (await look()) return true;
    if (Date.now() > until) return false;
    await sleep(100);
  }
}
