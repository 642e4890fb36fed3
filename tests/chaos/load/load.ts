// The steady load: a few small jobs a second from several users, one with a quota, drawn from the seed. Now and then
// an answered request is sent again to another server, and a job is looked up where it was accepted: the answers must
// agree.
import { sleep } from "../../harness/eventually.ts";
import type { ChaosCluster } from "../cluster.ts";
import type { Submission } from "../history.ts";
import type { Ledger } from "../watch/ledger.ts";
import { type Job, submit } from "./client.ts";
import type { Random } from "./random.ts";

export interface Load {
  readonly submissions: readonly Submission[];
  readonly contradictions: readonly string[];
  /** Submits one more job of this length; returns its acknowledged id. */
  one(options: { readonly seconds: number; readonly nodes?: number; readonly first?: number }): Promise<string>;
  /** Stops submitting and waits for pending submissions. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly cluster: ChaosCluster;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly perSecond: number;
}

export const LIMITED = { tenant: "limited", nodes: 2 } as const;
export const UNLIMITED = ["physics", "biology"] as const;
const REPEATED_SHARE = 0.08;
const LOOKED_UP_SHARE = 0.2;
/** Acknowledged and not finished. A machine too slow for the load would otherwise only show its queue. */
const MAX_WAITING = 30;
/** Concurrent requests; more of them would form a queue when no server answers. */
const MAX_UNDER_WAY = 40;

export function startLoad({ cluster, ledger, random, perSecond }: LoadOptions): Load {
  const submissions: Submission[] = [];
  const contradictions: string[] = [];
  const underWay = new Set<Promise<unknown>>();
  let number = 0;
  let stop = false;

  const send = async (job: Job): Promise<Submission> => {
    const result = await submit(cluster, job, random, () => false);
    submissions.push(result);
    if (result.id === null) return result;
    if (random.next() < REPEATED_SHARE) {
      const again = await submit(cluster, job, random, () => stop);
      if (again.id !== null && again.id !== result.id)
        contradictions.push(`request ${job.requestId} was answered with ${result.id}, then with ${again.id}`);
      if (again.refusal !== null) contradictions.push(`request ${job.requestId}, sent again: ${again.refusal}`);
    }
    return result;
  };

  const readOwnWrite = async (job: Job): Promise<void> => {
    const n = random.between(1, cluster.servers.length);
    const result = await submit(cluster, { ...job, first: n }, random, () => false);
    submissions.push(result);
    if (result.id === null || result.tries > 1) return;
    const seen = await cluster.api(n, "GET", `/allocations/${result.id}`).catch(() => null);
    if (seen?.status === 404) contradictions.push(`server ${n} took ${result.id} and did not know it afterwards`);
  };

  const jobOf = (nodes: number, seconds: number): Job => {
    number += 1;
    const tenant = random.next() < 0.25 ? LIMITED.tenant : random.pick([...UNLIMITED]);
    const most = tenant === LIMITED.tenant ? LIMITED.nodes : nodes;
    return { requestId: `job-${number}`, tenant, nodes: Math.min(nodes, most), script: ledger.script(seconds) };
  };

  const waiting = (): number => {
    const done = new Set(ledger.runs().flatMap(({ allocation, finished }) => (finished ? [allocation] : [])));
    return submissions.filter(({ id }) => id !== null && !done.has(id)).length;
  };

  const begin = (work: Promise<unknown>): void => {
    const kept = work
      .catch((error) => contradictions.push(`a client failed: ${error}`))
      .finally(() => underWay.delete(kept));
    underWay.add(kept);
  };

  const going = (async () => {
    while (!stop) {
      if (underWay.size < MAX_UNDER_WAY && waiting() < MAX_WAITING) {
        const nodes = random.pick([1, 1, 1, 1, 1, 1, 2, 2, 3]);
        const job = jobOf(nodes, random.between(2, nodes > 1 ? 12 : 25) / 10);
        begin(random.next() < LOOKED_UP_SHARE ? readOwnWrite(job) : send(job));
      }
      await sleep((random.between(50, 150) * 10) / perSecond);
    }
  })();

  return {
    submissions,
    contradictions,
    async one({ seconds, nodes = 1, first }) {
      number += 1;
      const job = { requestId: `long-${number}`, tenant: "physics", nodes, script: ledger.script(seconds) };
      const result = await submit(cluster, first === undefined ? job : { ...job, first }, random, () => false);
      submissions.push(result);
      if (result.id === null) throw new Error(`no server accepts ${job.requestId}: ${result.refusal ?? "no answer"}`);
      return result.id;
    },
    async stop() {
      stop = true;
      await going;
      await Promise.all(underWay);
    },
  };
}
