// Why an allocation is still pending, in codes and sentences with the figures, told from the state
// the plan leaves behind: quota first, then whether it could ever fit, then who has the nodes, then what
// else is scarce. Figures that many allocations share are counted once.

import type { AllocationId } from "@lattice/core";
import type { PendingReason } from "./cycle-types.ts";
import { type Draft, isFree } from "./draft.ts";
import { createHolders, type Holders } from "./holders.ts";
import { isPossible, type Job } from "./job.ts";
import type { Match } from "./machine/match.ts";
import type { Ledger } from "./quota.ts";
import { missing } from "./shortage-text.ts";

export interface Explainer {
  /** Never empty: whoever is not placed has a reason. */
  reasons(job: Job): readonly PendingReason[];
}

export interface Standing {
  readonly draft: Draft;
  readonly ledger: Ledger;
  /** What holds back those that nothing else does. */
  readonly otherwise: "priority" | "not_considered";
  /** Who gave up its place to others that are worth more together, and to whom. */
  readonly exchanged: ReadonlyMap<AllocationId, readonly AllocationId[]>;
}

/** The draft must not change any more: free nodes are counted once per kind of request. */
export function explainer({ draft, ledger, otherwise, exchanged }: Standing): Explainer {
  const known = new Map<Match, number>();
  const freeOf = (match: Match): number => {
    const free = known.get(match) ?? countFree(draft, match);
    known.set(match, free);
    return free;
  };
  const holders = createHolders(draft);
  const rest: readonly PendingReason[] = [{ code: otherwise, text: OTHERWISE[otherwise] }];
  return {
    reasons: (job) => {
      const quota = quotaReason(ledger, job);
      const nodes = nodesReason(draft, job, { free: freeOf(job.match), holders });
      const other = quota === null && nodes === null ? scarceReason(draft, job, otherwise) : null;
      const gave = exchangeReason(exchanged.get(job.input.id));
      if (quota === null && nodes === null && other === null && gave === null) return rest;
      return [gave, quota, nodes, other].filter((reason) => reason !== null);
    },
  };
}

const OTHERWISE = {
  priority: "Its nodes are free, but allocations ahead of it in the queue go first.",
  not_considered: "The queue ahead of it is longer than one scheduling cycle looks at.",
} as const satisfies Record<Standing["otherwise"], string>;

function exchangeReason(instead: readonly AllocationId[] | undefined): PendingReason | null {
  if (instead === undefined) return null;
  const who = instead.length === 1 ? "1 allocation" : `${instead.length} allocations`;
  const text = `${who} behind it started in its place, worth more on these nodes; its own start is reserved and will be kept.`;
  return { code: "exchanged", text };
}

function countFree(draft: Draft, match: Match): number {
  let free = 0;
  for (const cell of match.cells) free += draft.freeIn[cell] as number;
  for (const node of match.excluded) if (isFree(draft, node)) free -= 1;
  return free;
}

function quotaReason(ledger: Ledger, { input, least }: Job): PendingReason | null {
  const shortage = ledger.shortage(input.tenant, least);
  if (shortage === null) return null;
  const { code, used, limit } = shortage;
  if (code === "sensitive_pool") {
    const text = `Waiting for the pool of sensitive work: ${used} of at most ${limit} nodes are held, this needs ${least}.`;
    return { code, text };
  }
  const figures =
    code === "quota_allocations"
      ? `tenant ${input.tenant} runs ${used} of at most ${limit} allocations`
      : `tenant ${input.tenant} holds ${used} of at most ${limit} nodes, this needs ${least}`;
  return { code, text: `Waiting for quota headroom: ${figures}.` };
}

interface Figures {
  readonly free: number;
  readonly holders: Holders;
}

function nodesReason(draft: Draft, job: Job, { free, holders }: Figures): PendingReason | null {
  const needs = `Needs ${job.least === 1 ? "1 node" : `${job.least} nodes`}`;
  if (!isPossible(draft.machine, job))
    return { code: "no_matching_nodes", text: `${needs}; ${missing(draft.machine, job)}.` };
  if (free < job.least) return { code: "busy", text: `${needs}; ${job.match.size} match, ${free} of them free now.` };
  const busy = (job.match.required ?? []).filter((node) => !isFree(draft, node));
  if (busy.length > 0) {
    const names = busy.map((node) => draft.machine.nodes[node]?.id ?? "").join(", ");
    return { code: "busy", text: `${needs}; of its required nodes these are not free now: ${names}.` };
  }
  const held = holders.text(job);
  return held === null ? null : { code: "reserved", text: `${needs}; ${free} match and are free, ${held}.` };
}

function storageText({ budgets, now }: Draft, { input, occupies }: Job): string {
  const left = Math.max(0, Math.floor(budgets?.left("storage", now, now + occupies) ?? 0));
  return `Needs ${input.storageMBps ?? 0} MB/s of storage; ${left} MB/s are left until it would end.`;
}

/** Free nodes alone do not do: power, bandwidth, or how the nodes lie. */
function scarceReason(draft: Draft, job: Job, otherwise: Standing["otherwise"]): PendingReason | null {
  const scarce = draft.budgets?.scarce(job, draft.now) ?? null;
  if (scarce === "power") return { code: "power", text: "Starting it now would exceed the power budget." };
  if (scarce === "storage") return { code: "storage", text: storageText(draft, job) };
  if (otherwise === "not_considered") return null;
  if (job.input.constraints.requireConformance === true) {
    return { code: "topology", text: "Its nodes are free, but too few of them have one fingerprint." };
  }
  if (!Number.isFinite(job.maxGroups)) return null;
  const most = job.maxGroups === 1 ? "one group" : `${job.maxGroups} groups`;
  return { code: "topology", text: `Its nodes are free, but spread over more than ${most}.` };
}
