// Step 0: who has had others stopped goes first. It starts as soon as it can; until then the nodes that
// were freed for it are held against everybody, in every vCluster, and it takes no further part in the
// cycle, so that nobody is stopped for it twice.

import type { AllocationId } from "@lattice/core";
import { startNow } from "../backfill.ts";
import type { CycleInput, PendingInput } from "../cycle-types.ts";
import type { Draft } from "../draft.ts";
import { type Job, jobOf } from "../job.ts";
import { compareSubmission } from "../order.ts";
import type { Ledger } from "../quota.ts";

/** `start` makes the placement, so that the next one sees it. */
export function settleAwaiting(
  draft: Draft,
  input: CycleInput,
  ledger: Ledger,
  start: (job: Job, nodes: readonly number[]) => void,
): ReadonlySet<AllocationId> {
  const awaited = new Set<AllocationId>();
  if (input.awaiting === undefined || input.awaiting.length === 0) return awaited;
  const own = new Map(input.awaiting.filter((one) => one.own).map((one) => [one.allocation, one.nodes]));
  for (const { own: mine, nodes } of input.awaiting) if (!mine) holdBack(draft, nodes);
  const waiting = input.pending.filter((pending) => own.has(pending.id)).sort(compareSubmission);
  const holds = new Map(waiting.map((pending) => [pending.id, holdBack(draft, own.get(pending.id) ?? [])]));
  for (const pending of waiting) {
    const job = jobOf(draft.machine, pending, input.signals);
    const held = holds.get(pending.id);
    if (held !== undefined) draft.holds.remove(held);
    const nodes = tryNow(draft, job, pending, ledger);
    if (nodes !== null) start(job, nodes);
    else {
      awaited.add(pending.id);
      if (held !== undefined) draft.holds.add(held);
    }
  }
  return awaited;
}

function tryNow(draft: Draft, job: Job, pending: PendingInput, ledger: Ledger): readonly number[] | null {
  const headroom = ledger.headroom(pending.tenant, job.least);
  return headroom === 0 ? null : startNow(draft, job, Math.min(pending.maxNodes, headroom));
}

function holdBack(draft: Draft, nodes: readonly string[]) {
  const numbers = nodes.flatMap((id) => draft.machine.indexOf.get(id as never) ?? []).sort((a, b) => a - b);
  const held = { startsAt: draft.now as number, endsAt: Number.POSITIVE_INFINITY, nodes: numbers };
  draft.holds.add(held);
  return held;
}
