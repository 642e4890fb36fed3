// Why an allocation is still pending, in codes and sentences with the figures, told from the state
// the plan leaves behind: quota first, then whether it could ever fit, then who has the nodes.

import type { PendingInput, PendingReason } from "./cycle-types.ts";
import { type Draft, isFree, isPossible, type Job, jobOf } from "./draft.ts";
import type { Match } from "./machine.ts";
import type { Ledger } from "./quota.ts";
import { missing } from "./shortage-text.ts";

export interface Explainer {
  /** Never empty: whoever is not placed has a reason. */
  reasons(pending: PendingInput): readonly PendingReason[];
}

export interface Standing {
  readonly draft: Draft;
  readonly ledger: Ledger;
  /** What holds back those that nothing else does. */
  readonly otherwise: "priority" | "not_considered";
}

/** The draft must not change any more: free nodes are counted once per kind of request. */
export function explainer({ draft, ledger, otherwise }: Standing): Explainer {
  const known = new Map<Match, readonly number[]>();
  const freeOf = (match: Match): readonly number[] => {
    const free = known.get(match) ?? match.nodes.filter((node) => isFree(draft, node));
    known.set(match, free);
    return free;
  };
  return {
    reasons: (pending) => {
      const job = jobOf(draft.machine, pending);
      const reasons = [quotaReason(ledger, job), nodesReason(draft, job, freeOf(job.match))];
      const found = reasons.filter((reason) => reason !== null);
      return found.length > 0 ? found : [{ code: otherwise, text: OTHERWISE[otherwise] }];
    },
  };
}

const OTHERWISE = {
  priority: "Its nodes are free, but allocations ahead of it in the queue go first.",
  not_considered: "The queue ahead of it is longer than one scheduling cycle looks at.",
} as const satisfies Record<Standing["otherwise"], string>;

function quotaReason(ledger: Ledger, { input, least }: Job): PendingReason | null {
  const shortage = ledger.shortage(input.tenant, least);
  if (shortage === null) return null;
  const { code, used, limit } = shortage;
  const figures =
    code === "quota_allocations"
      ? `tenant ${input.tenant} runs ${used} of at most ${limit} allocations`
      : `tenant ${input.tenant} holds ${used} of at most ${limit} nodes, this needs ${least}`;
  return { code, text: `Waiting for quota headroom: ${figures}.` };
}

function nodesReason(draft: Draft, job: Job, free: readonly number[]): PendingReason | null {
  const needs = `Needs ${job.least === 1 ? "1 node" : `${job.least} nodes`}`;
  const match = job.match.nodes.length;
  if (!isPossible(job)) return { code: "no_matching_nodes", text: `${needs}; ${missing(draft.machine, job)}.` };
  if (free.length < job.least)
    return { code: "busy", text: `${needs}; ${match} match, ${free.length} of them free now.` };
  const busy = (job.match.required ?? []).filter((node) => !isFree(draft, node));
  if (busy.length > 0) {
    const names = busy.map((node) => draft.machine.nodes[node]?.id ?? "").join(", ");
    return { code: "busy", text: `${needs}; of its required nodes these are not free now: ${names}.` };
  }
  const held = heldText(draft, job, free);
  return held === null ? null : { code: "reserved", text: `${needs}; ${free.length} match and are free, ${held}.` };
}

/** Which reservations keep the free nodes, and from when. */
function heldText(draft: Draft, job: Job, free: readonly number[]): string | null {
  const endsAt = draft.now + job.occupies;
  const freeNow = new Set(free);
  const kept = new Set<number>();
  const holders: string[] = [];
  for (const held of draft.held) {
    if (held.startsAt >= endsAt || held.job.input.id === job.input.id) continue;
    const nodes = held.nodes.filter((node) => freeNow.has(node));
    if (nodes.length > 0) holders.push(`${held.job.input.id} (starts in ${inWords(held.startsAt - draft.now)})`);
    for (const node of nodes) kept.add(node);
  }
  return holders.length === 0 ? null : `${kept.size} of them held for ${holders.join(", ")}`;
}

/** "45 s", "12 min", "3 h 20 min". */
function inWords(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}
