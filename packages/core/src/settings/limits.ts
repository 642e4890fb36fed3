// Limits that hold for the whole cluster and are checked where placements are committed: the pool of nodes that sensitive work may
// hold at a time. They come from the configuration of the leader, and are in the state so that every replica judges alike.

import { isCount, problemList } from "../allocation/check-values.ts";
import type { SetLimitsCommand } from "../command.ts";
import type { VClusterId } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import type { View } from "../state/view.ts";
import { accepted, refuseFields, type Step, unchanged } from "../step.ts";
import { policyOf } from "../vcluster/policy.ts";

export interface ClusterLimits {
  /** Nodes that sensitive vClusters together may hold; null: as many as there are. */
  readonly sensitivePoolSize: number | null;
}

export const NO_LIMITS: ClusterLimits = { sensitivePoolSize: null };
export const MAX_POOL_SIZE = 1_000_000;

/** Lowering a limit stops nobody: it holds from the next placement on. */
export function setLimits(step: Step, { limits }: SetLimitsCommand): Outcome {
  const { sensitivePoolSize } = limits;
  const problems = problemList();
  const fits = sensitivePoolSize === null || isCount(sensitivePoolSize, 0, MAX_POOL_SIZE);
  problems.unless(fits, "sensitive_pool_size", `must be a whole number from 0 to ${MAX_POOL_SIZE}`);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (step.state.limits.sensitivePoolSize === sensitivePoolSize) return unchanged(null);
  step.state.tables.limits.set("limits", { sensitivePoolSize });
  return accepted(null);
}

/** Nodes that sensitive work holds, those that are still being released included. */
export function sensitiveNodes(view: Pick<View, "vclusters" | "claimedNodes">): number {
  let held = 0;
  for (const vcluster of view.vclusters()) if (policyOf(vcluster).sensitive) held += view.claimedNodes(vcluster.id);
  return held;
}

/** What is left of the pool for this vCluster; null: no limit concerns it. */
export function poolLeft(
  view: Pick<View, "vcluster" | "vclusters" | "claimedNodes" | "limits">,
  id: VClusterId,
): { readonly limit: number; readonly current: number } | null {
  const limit = view.limits.sensitivePoolSize;
  const vcluster = view.vcluster(id);
  if (limit === null || vcluster === undefined || !policyOf(vcluster).sensitive) return null;
  return { limit, current: sensitiveNodes(view) };
}
