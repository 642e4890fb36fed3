// The steady load: a few small jobs a second from several users, one of whom has a quota, all with chance from the seed.
// Now and then a request that was answered is sent again to another server, and a job is looked up where it was
// taken: both must say the same.
import { sleep } from "../../harness/eventually.ts";
import type { Submission } from "../history.ts";
import type { Stage } from "../stage.ts";
import type { Ledger } from "../watch/ledger.ts";
import { type Job, submit } from "./client.ts";
import type { Random } from "./random.ts";

export interface Load {
  readonly submissions: readonly Submission[];
  readonly contradictions: readonly string[];
  /** One job more, of this length; its acknowledged id. */
  one(options: { readonly seconds: number; readonly nodes?: number; readonly first?: number }): Promise<string>;
  /** No further ones; those under way are waited for. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly perSecond: number;
}

export const LIMITED = { tenant: "limited", nodes: 2 } as const;
const REPEATED_SHARE = 0.08;
const LOOKED_UP_SHARE = 0.2;
/** Acknowledged and not done. A machine that is too slow for the load would else show nothing but its queue. */
const MOST_WAITING = 30;
/** Under way at once; more of them would be a queue of their own when nobody answers. */
const MOST_UNDER_WAY = 40;

export function startLoad({ stage, ledger, random, perSecond }: LoadOptions): Load {
  const submissions: Submission[] = [];
  const contradictions: string[] = [];
  const underWay = new Set<Promise<unknown>>();
  let number = 0;
  let stop = false;

  const send = async (job: Job): Promise<Submission> => {
    const told = await submit(stage, job, random, () => false);
    submissions.push(told);
    if (told.id === null) return told;
    if (random.next() < REPEATED_SHARE) {
      const again = await submit(stage, job, random, () => stop);
      if (again.id !== null && again.id !== told.id)
        contradictions.push(`request ${job.requestId} was answered with ${told.id}, then with ${again.id}`);
      if (again.refusal !== null) contradictions.push(`request ${job.requestId}, sent again: ${again.refusal}`);
    }
    return told;
  };

  const readOwnWrite = async (job: Job): Promise<void> => {
    const n = random.between(1, stage.servers.length);
    const told = await submit(stage, { ...job, first: n }, random, () => false);
    submissions.push(told);
    if (told.id === null || told.tries > 1) return;
    const seen = await stage.api(n, "GET", `/allocations/${told.id}`).catch(() => null);
    if (seen?.status === 404) contradictions.push(`server ${n} took ${told.id} and did not know it afterwards`);
  };

  const jobOf = (nodes: number, seconds: number): Job => {
    number += 1;
    const tenant = random.next() < 0.25 ? LIMITED.tenant : random.pick(["physics", "biology"]);
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
      if (underWay.size < MOST_UNDER_WAY && waiting() < MOST_WAITING) {
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
      const told = await submit(stage, first === undefined ? job : { ...job, first }, random, () => false);
      submissions.push(told);
      if (told.id === null) throw new Error(`nobody takes ${job.requestId}: ${told.refusal ?? "no answer"}`);
      return told.id;
    },
    async stop() {
      stop = true;
      await going;
      await Promise.all(underWay);
    },
  };
}
