// Polls the index and the state hash of every server. Two servers at the same index must report the same hash.
import { sleep } from "../../harness/eventually.ts";
import type { ChaosCluster } from "../cluster.ts";
import type { Poll } from "../history.ts";

export interface Polls {
  all(): readonly Poll[];
  close(): Promise<void>;
}

interface Status {
  readonly applied_index?: string;
  readonly state_hash?: string;
}

const EVERY_MS = 900;
const WITHIN_MS = 1_500;

export function startPolls(cluster: ChaosCluster): Polls {
  const polls: Poll[] = [];
  let stop = false;
  const polling = (async () => {
    while (!stop) {
      const answers = await Promise.all(cluster.servers.map(({ n }) => pollOf(cluster, n).catch(() => null)));
      polls.push(...answers.filter((poll) => poll !== null));
      await sleep(EVERY_MS);
    }
  })();
  return {
    all: () => polls,
    async close() {
      stop = true;
      await polling;
    },
  };
}

export async function pollOf(cluster: ChaosCluster, n: number): Promise<Poll | null> {
  const { status, body } = await cluster.api<Status>(n, "GET", "/raft/status", undefined, WITHIN_MS);
  if (status !== 200 || body.applied_index === undefined || body.state_hash === undefined) return null;
  return { server: `server-${n}`, index: Number(body.applied_index), hash: body.state_hash };
}
