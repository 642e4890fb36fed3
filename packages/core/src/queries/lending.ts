// Whether an allocation may borrow a node of another vCluster, on the owner's terms. The scheduler and `apply` both use
// it. Work that cannot be preempted may not borrow, because the owner could not reclaim its nodes.

import type { VClusterId } from "../base/ids.ts";
import type { AllocationSpec } from "../model/spec/spec.ts";
import type { Lending } from "../model/vcluster/lending.ts";
import { policyOf } from "../model/vcluster/policy.ts";
import type { View } from "../state/view.ts";
import { NEVER_STOPPED_CLASS } from "./preemption.ts";

/** Returns the reason as text, with the lender's name; `null` when it may borrow. */
export function borrowRefusal(view: View, spec: AllocationSpec, lender: VClusterId): string | null {
  const own = view.vcluster(spec.vcluster);
  const other = view.vcluster(lender);
  const lending = other === undefined ? null : policyOf(other).lending;
  if (lending === null) return `vCluster "${lender}" lends no nodes`;
  if (own === undefined || !policyOf(own).borrows) return `vCluster "${spec.vcluster}" borrows no nodes`;
  return termsBar(spec, lending, lender);
}

function termsBar({ lifecycle }: AllocationSpec, { maxClass, maxDuration }: Lending, lender: string): string | null {
  const { preemptionClass, walltime, noPreempt } = lifecycle;
  if (noPreempt === true || preemptionClass >= NEVER_STOPPED_CLASS)
    return "work that cannot be stopped borrows no nodes";
  if (preemptionClass > maxClass) return `vCluster "${lender}" lends to class ${maxClass} and below`;
  if (maxDuration === null || (walltime !== null && walltime <= maxDuration)) return null;
  return `vCluster "${lender}" lends for at most ${maxDuration / 1000} s`;
}

/** Returns how many more nodes the vCluster lends now. */
export function lendableNodes(view: View, lender: VClusterId): number {
  const vcluster = view.vcluster(lender);
  const lending = vcluster === undefined ? null : policyOf(vcluster).lending;
  if (lending === null) return 0;
  const { home, lent } = view.homeNodes(lender);
  return Math.max(0, home - lending.keepNodes - lent);
}
