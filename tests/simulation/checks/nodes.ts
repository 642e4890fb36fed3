// Rules for unhealthy nodes: placements use ready nodes only, an allocation never returns to a node whose prologue
// failed for it and is tried at most three more times, and at most a share of all nodes is quarantined at once (D6).

import type { Applied, View } from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { World } from "../world/world.ts";
import { isPlacedBy } from "./placed-by.ts";
import type { Watcher } from "./watcher.ts";

export interface NodeLimits {
  readonly prologueRetries: number;
  /** Percent of all nodes. */
  readonly quarantineMaxPercent: number;
}

export function nodeChecks(world: World, { prologueRetries, quarantineMaxPercent }: NodeLimits): Watcher {
  const counts = { prologueRetries: 0, prologueFailures: 0, drifts: 0, excludedNodes: 0, broken: 0, drainedAtOnce: 0 };

  function placed({ view }: Replica, applied: Applied): void {
    const moved = new Set(applied.events.filter(({ kind }) => kind === "node_changed").map(({ node }) => node));
    for (const effect of applied.effects) {
      if (effect.kind !== "run") continue;
      const record = view.allocation(effect.allocation);
      if (record?.excludedNodes.includes(effect.node))
        world.violated("prologue", `${record.id} is ordered on ${effect.node}, which could not be made ready for it`);
      const isNew = isPlacedBy(applied, effect.allocation);
      const state = view.node(effect.node)?.state.kind ?? "unknown";
      if (record !== undefined && isNew && state !== "ready" && !moved.has(effect.node))
        world.violated("nodes", `${record.id} is placed on ${effect.node}, which is ${state}`);
    }
  }

  function setAsideIn(view: View): number {
    let out = 0;
    for (const { state } of view.nodes()) if (state.kind === "down" && state.cause === "quarantined") out += 1;
    return out;
  }

  return {
    counts,
    leastPerHour: {
      prologueRetries: 4,
      prologueFailures: 1,
      drifts: 4,
      broken: 4,
      urgentDrains: 8,
      hardwareReports: 6,
    },
    applied(replica: Replica, applied: Applied) {
      const { view } = replica;
      placed(replica, applied);
      for (const { kind, allocation, node, from, to, reason } of applied.events) {
        if (kind === "allocation_changed" && allocation !== undefined && from !== to) {
          if (reason === "prologue_failed") counts[to === "failed" ? "prologueFailures" : "prologueRetries"] += 1;
          const phase = view.allocation(allocation)?.phase;
          if (phase?.kind === "checkpointing" && phase.request.cause === "drained") counts.drainedAtOnce += 1;
          const tried = view.allocation(allocation)?.excludedNodes.length ?? 0;
          if (tried > prologueRetries) world.violated("prologue", `${allocation} was tried on ${tried} further nodes`);
        }
        if (kind !== "node_changed" || node === undefined) continue;
        if (reason === "conformance_changed" && view.node(node)?.drift !== undefined) counts.drifts += 1;
        const state = view.node(node)?.state;
        if (from === to || to !== "down" || state?.kind !== "down") continue;
        if (state.cause === "hardware") counts.broken += 1;
        if (state.cause !== "quarantined") continue;
        counts.excludedNodes += 1;
        const out = setAsideIn(view);
        if (out * 100 > quarantineMaxPercent * view.nodeCount)
          world.violated("D6", `${out} of ${view.nodeCount} nodes are quarantined`);
      }
    },
  };
}
