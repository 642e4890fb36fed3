// Which work may preempt which. The scheduler, which proposes, and `apply`, which rechecks, share the rules: only a
// higher class preempts a lower one; class 10, sensitive work and work marked as non-preemptible are never preempted; a
// vCluster may protect its own work.

import type { VClusterId } from "../base/ids.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { isPlaced } from "../model/allocation/phase.ts";
import { policyOf } from "../model/vcluster/policy.ts";
import type { View } from "../state/view.ts";

/** From this class on, work without checkpoints is not preempted, because all of it would be lost. */
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
  // Preempting it would not free the node.
  if (victim.share !== undefined) return `allocation ${id} shares its node`;
  if (preemptible === "always" || (preemptible === "borrowed" && isBorrower(view, victim, null))) return null;
  return `vCluster "${vcluster.id}" shields allocation ${id}`;
}

/** The effective class: a sensitive claim has the highest. */
export function claimingClass(view: View, { spec }: Allocation): number {
  const vcluster = view.vcluster(spec.vcluster);
  const sensitive = vcluster !== undefined && policyOf(vcluster).sensitive;
  return sensitive ? HIGHEST_CLASS : spec.lifecycle.preemptionClass;
}

/** Whether it runs on nodes of another vCluster: of the given one, or of any. */
export function isBorrower(view: View, { spec, phase }: Allocation, from: VClusterId | null): boolean {
  if (!isPlaced(phase)) return false;
  return phase.nodes.some((id) => {
    const home = view.node(id)?.homeVCluster ?? null;
    return home !== null && home !== spec.vcluster && (from === null || from === home);
  });
}

/** Describes why the victim is preempted. */
export function reasonFor(view: View, winner: Allocation, victim: Allocation): PreemptionReason {
  const vcluster = view.vcluster(winner.spec.vcluster);
  if (vcluster !== undefined && policyOf(vcluster).sensitive) return "sensitive";
  return isBorrower(view, victim, winner.spec.vcluster) ? "reclaim" : "priority";
}
