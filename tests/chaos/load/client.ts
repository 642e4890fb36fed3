// One submission of a careful client: with a request id, to any server, repeated under the same id until one answers.
// A lost answer leaves the outcome of a try unknown; the id makes that harmless.
import { sleep } from "../../harness/eventually.ts";
import type { ChaosCluster } from "../cluster.ts";
import type { Submission } from "../history.ts";
import type { Random } from "./random.ts";

export interface Job {
  readonly requestId: string;
  readonly tenant: string;
  readonly nodes: number;
  readonly script: string;
  /** This server first; others when it does not accept. */
  readonly first?: number;
}

interface Answer {
  readonly id?: string;
  readonly code?: string;
  readonly detail?: string;
}

const TRY_WITHIN_MS = 4_000;
/** No fault lasts so long that a client would have to give up. */
const GIVE_UP_MS = 75_000;
const PAUSE_MS = 250;

export async function submit(
  cluster: ChaosCluster,
  job: Job,
  random: Random,
  stopped: () => boolean,
): Promise<Submission> {
  const sentAt = Date.now();
  const { requestId, tenant, nodes } = job;
  const order = random.shuffled(cluster.servers.map(({ n }) => n)).sort((a) => (a === job.first ? -1 : 0));
  let tries = 0;
  while (Date.now() - sentAt < GIVE_UP_MS && !stopped()) {
    const n = order[tries % order.length] ?? 1;
    tries += 1;
    const answer = await cluster.api<Answer>(n, "POST", "/allocations", bodyOf(job), TRY_WITHIN_MS).catch(() => null);
    const result = { requestId, tenant, nodes, tries, sentAt, answeredAt: Date.now() };
    if (answer?.status === 200 && answer.body.id !== undefined) return { ...result, id: answer.body.id, refusal: null };
    if (answer !== null && answer.status < 500 && answer.status !== 429) {
      return { ...result, id: null, refusal: `${answer.status} ${answer.body.code}: ${answer.body.detail}` };
    }
    await sleep(PAUSE_MS);
  }
  return { requestId, tenant, nodes, tries, sentAt, answeredAt: Date.now(), id: null, refusal: null };
}

/** Longer than any job of a run needs. */
const WALLTIME = "20m";

const bodyOf = (job: Job) => ({
  request_id: job.requestId,
  name: job.requestId,
  tenant: job.tenant,
  nodes: job.nodes,
  walltime: WALLTIME,
  entrypoint: job.script,
  max_requeue: 20,
});
