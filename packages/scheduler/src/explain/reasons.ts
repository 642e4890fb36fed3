// Why an allocation is still pending, as codes and sentences with figures, from the draft that the plan leaves: quota
// first, then whether it could ever fit, then busy and reserved nodes, then other scarce resources. Figures that many
// allocations share are computed once.

import type { AllocationId } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import type { PendingReason } from "../input/cycle-input.ts";
import type { Quotas } from "../limits/quotas.ts";
import type { Match } from "../machine/match.ts";
import { isFeasible } from "../place/feasibility.ts";
import { type Draft, isFree } from "../plan/draft.ts";
import { type Blockers, createBlockers } from "./blockers.ts";
import { spreadText, storageNeedText } from "./constraint-texts.ts";
import { missing } from "./shortfall-text.ts";

export interface Explainer {
  /** Never empty: an allocation without placement has a reason. */
  reasons(job: Job): readonly PendingReason[];
}

export interface ReasonContext {
  readonly draft: Draft;
  readonly quotas: Quotas;
  /** The reason of allocations that nothing else explains. */
  readonly defaultReason: "priority" | "not_considered";
  /** Allocations that gave up their start, with the ones that started instead. */
  readonly exchanged: ReadonlyMap<AllocationId, readonly AllocationId[]>;
}

/** The draft must not change afterwards: free nodes are counted once per match. */
export function createExplainer({ draft, quotas, defaultReason, exchanged }: ReasonContext): Explainer {
  const known = new Map<Match, number>();
  const freeOf = (match: Match): number => {
    const free = known.get(match) ?? countFree(draft, match);
    known.set(match, free);
    return free;
  };
  const blockers = createBlockers(draft);
  const rest: readonly PendingReason[] = [{ code: defaultReason, text: DEFAULT_TEXT[defaultReason] }];
  return {
    reasons: (job) => {
      const quota = quotaReason(quotas, job);
      const nodes = nodesReason(draft, job, { free: freeOf(job.match), blockers });
      const other = quota === null && nodes === null ? scarceReason(draft, job, defaultReason) : null;
      const gave = exchangeReason(exchanged.get(job.input.id));
      if (quota === null && nodes === null && other === null && gave === null) return rest;
      return [gave, quota, nodes, other].filter((reason) => reason !== null);
    },
  };
}

const DEFAULT_TEXT = {
  priority: "Its nodes are free, but allocations ahead of it in the queue go first.",
  not_considered: "The queue ahead of it is longer than one scheduling cycle looks at.",
} as const satisfies Record<ReasonContext["defaultReason"], string>;

function exchangeReason(instead: readonly AllocationId[] | undefined): PendingReason | null {
  if (instead === undefined) return null;
  const who = instead.length === 1 ? "1 allocation" : `${instead.length} allocations`;
  const text = `${who} behind it started first because they score higher on these nodes. Its reserved start time does not change.`;
  return { code: "exchanged", text };
}

function countFree(draft: Draft, match: Match): number {
  let free = 0;
  for (const cell of match.cells) free += draft.freeIn[cell] as number;
  for (const node of match.excluded) if (isFree(draft, node)) free -= 1;
  return free;
}

function quotaReason(quotas: Quotas, { input, nodesNeeded }: Job): PendingReason | null {
  const shortage = quotas.shortage(input.tenant, nodesNeeded);
  if (shortage === null) return null;
  const { code, used, limit } = shortage;
  if (code === "sensitive_pool") {
    const text = `Waiting for the pool of sensitive work: ${used} of at most ${limit} nodes are in use, this needs ${nodesNeeded}.`;
    return { code, text };
  }
  const figures =
    code === "quota_allocations"
      ? `tenant ${input.tenant} runs ${used} of at most ${limit} allocations`
      : `tenant ${input.tenant} uses ${used} of at most ${limit} nodes, this needs ${nodesNeeded}`;
  return { code, text: `Waiting for quota headroom: ${figures}.` };
}

interface Figures {
  readonly free: number;
  readonly blockers: Blockers;
}

function nodesReason(draft: Draft, job: Job, { free, blockers }: Figures): PendingReason | null {
  const needs = `Needs ${job.nodesNeeded === 1 ? "1 node" : `${job.nodesNeeded} nodes`}`;
  if (!isFeasible(draft.machine, job))
    return { code: "no_matching_nodes", text: `${needs}; ${missing(draft.machine, job)}.` };
  if (free < job.nodesNeeded)
    return { code: "busy", text: `${needs}; ${job.match.size} match, ${free} of them free now.` };
  const busy = (job.match.required ?? []).filter((node) => !isFree(draft, node));
  if (busy.length > 0) {
    const names = busy.map((node) => draft.machine.nodes[node]?.id ?? "").join(", ");
    return { code: "busy", text: `${needs}; of its required nodes these are not free now: ${names}.` };
  }
  const reservation = blockers.text(job);
  return reservation === null
    ? null
    : { code: "reserved", text: `${needs}; ${free} match and are free, ${reservation}.` };
}

function storageText({ budgets, now }: Draft, { input, occupancy }: Job): string {
  const left = Math.max(0, Math.floor(budgets?.left("storage", now, now + occupancy) ?? 0));
  return storageNeedText(input.constraints, left);
}

/** Free nodes alone do not suffice: power, bandwidth, or topology. */
function scarceReason(draft: Draft, job: Job, defaultReason: ReasonContext["defaultReason"]): PendingReason | null {
  const scarce = draft.budgets?.scarce(job, draft.now) ?? null;
  if (scarce === "power") return { code: "power", text: "Starting it now would exceed the power budget." };
  if (scarce === "storage") return { code: "storage", text: storageText(draft, job) };
  if (defaultReason === "not_considered") return null;
  if (job.input.constraints.requireConformance === true) {
    return { code: "topology", text: "Its nodes are free, but too few of them have one fingerprint." };
  }
  const text = spreadText(job);
  return text === null ? null : { code: "topology", text };
}
