// Rules for shared and sensitive nodes: shares belong to one tenant and vCluster and do not exceed the node (S1),
// sensitive work is alone on its nodes, never requeued (S5) and within its pool (S2). An exhausted budget raises a
// notice.

import type { Allocation, Applied, View } from "@lattice/core";
import { policyOf } from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { Process } from "../nodes/machine.ts";
import type { World } from "../world/world.ts";
import { isPlacedBy } from "./placed-by.ts";
import type { Watcher } from "./watcher.ts";

export interface Owners extends Watcher {
  /** Returns why two processes may not share a node with this many cores, or `null`. */
  whyNotBeside(process: Process, others: readonly Process[]): string | null;
}

export interface OwnerLimits {
  readonly sensitivePoolSize: number;
  readonly cores: number;
}

export function ownerChecks(world: World, { sensitivePoolSize, cores }: OwnerLimits): Owners {
  const counts = { sharedStarts: 0, besideOthers: 0, secretStarts: 0, poolFull: 0, budgetsExhausted: 0 };

  const isSecret = (view: View, { spec }: Allocation): boolean => {
    const vcluster = view.vcluster(spec.vcluster);
    return vcluster !== undefined && policyOf(vcluster).sensitive;
  };

  function placed(view: View, record: Allocation, node: string): void {
    const home = view.node(node as never)?.homeVCluster ?? null;
    const secret = isSecret(view, record);
    const homeOf = home === null ? undefined : view.vcluster(home);
    if (homeOf !== undefined && policyOf(homeOf).sensitive && home !== record.spec.vcluster)
      world.violated("S5", `${record.id} of ${record.spec.vcluster} is placed on ${node} of ${home}`);
    if (!secret) return;
    counts.secretStarts += 1;
    if (record.requeues > 0) world.violated("S5", `the sensitive ${record.id} was requeued`);
    const held = view.claimedNodes(record.spec.vcluster);
    if (held > sensitivePoolSize) world.violated("S2", `sensitive work holds ${held} nodes of ${sensitivePoolSize}`);
    if (held === sensitivePoolSize) counts.poolFull += 1;
  }

  return {
    counts,
    leastPerHour: { sharedStarts: 60, besideOthers: 4, secretStarts: 10, poolFull: 4, budgetsExhausted: 1 },
    applied(replica: Replica, applied: Applied) {
      const { view } = replica;
      for (const effect of applied.effects) {
        if (effect.kind !== "run") continue;
        const record = view.allocation(effect.allocation);
        if (record?.phase.kind === "staging" && isPlacedBy(applied, effect.allocation))
          placed(view, record, effect.node);
      }
      for (const { kind, to, reason } of applied.events)
        if (kind === "notice_changed" && to === "raised" && reason === "budget_exhausted") counts.budgetsExhausted += 1;
    },
    started(_, { order }) {
      if (order.limits !== undefined) counts.sharedStarts += 1;
    },
    whyNotBeside(process, others) {
      const all = [process, ...others];
      if (all.some(({ order }) => order.limits === undefined)) return "and one of them has it to itself";
      const { tenant, vcluster } = process.order;
      if (others.some(({ order }) => order.tenant !== tenant || order.vcluster !== vcluster)) return "of another owner";
      counts.besideOthers += 1;
      const used = all.reduce((sum, { order }) => sum + (order.limits?.cpuCores ?? cores), 0);
      return used > cores ? `with ${used} cores of ${cores}` : null;
    },
  };
}
