// Which work may preempt which. One set of rules for the scheduler, which proposes, and for `apply`, which rechecks:
// only a higher class stops a lower one; class 10, sensitive work and work that asked not to be stopped
// are left alone; a vCluster may shield its own.

import type { VClusterId } from "../base/ids.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { isPlaced } from "../model/allocation/phase.ts";
import { policyOf } from "../model/vcluster/policy.ts";
import type { View } from "../state/view.ts";

/** From this class on, work that takes no checkpoints is not stopped: all of it would be lost. */
export const NEVER_STOPPED_CLASS = 7;
export const HIGHEST_CLASS = 10;
export type PreemptionReason = "priority" | "reclaim" | "sensitive";

/** Returns why running work cannot be preempted, as text; `null` when a higher class may preempt it. */
export function preemptionProtection(view: View, victim: Allocation): string | null {
  const { spec, id } = victim;
  const vcluster = view.vcluster(spec.vcluster);
  if (vcluster === undefined) return `allocation ${id} has no vCluster`;
  const { sensitive, preemptible } = policyOf(vcluster);
  if (sensitive) return `allocation ${id} is sensitive`;
  if (spec.lifecycle.preemptionClass >= HIGHEST_CLASS) return `allocation ${id} has the highest class`;
  if (spec.lifecycle.noPreempt === true) return `allocation ${id} asked not to be stopped`;
  // Stopping it would not free the node.
  if (victim.share !== undefined) return `allocation ${id} shares its node`;
  if (preemptible === "always" || (preemptible === "borrowed" && isBorrower(view, victim, null))) return null;
  return `vCluster "${vcluster.id}" shields allocation ${id}`;
}

/** The class with which it goes before others: a sensitive claim has the highest. */
export function claimingClass(view: View, { spec }: Allocation): number {
  const vcluster = view.vcluster(spec.vcluster);
  const sensitive = vcluster !== undefined && policyOf(vcluster).sensitive;
  return sensitive ? HIGHEST_CLASS : spec.lifecycle.preemptionClass;
}

/** Whether it sits on nodes of another vCluster: of that one, or of any. */
export function isBorrower(view: View, { spec, phase }: Allocation, from: VClusterId | null): boolean {
  if (!isPlaced(phase)) return false;
  return phase.nodes.some((id) => {
    const home = view.node(id)?.homeVCluster ?? null;
    return home !== null && home !== spec.vcluster && (from === null || from === home);
  });
}

/** Why the one is stopped for the other. */
export function reasonFor(view: View, winner: Allocation, victim: Allocation): PreemptionReason {
  const vcluster = view.vcluster(winner.spec.vcluster);
  if (vcluster !== undefined && policyOf(vcluster).sensitive) return "sensitive";
  return isBorrower(view, victim, winner.spec.vcluster) ? "reclaim" : "priority";
}
