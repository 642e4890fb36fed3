// Elements behind others: a node has one owner at every index, and the line behind it belongs to one group. Counts how
// often the path was taken, and how often a fault, a drain or a cancellation met elements that waited.

import { type Applied, elementOf, type NodeId, type View } from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { World } from "../world/world.ts";
import type { Watcher } from "./watcher.ts";

export function turnChecks(world: World): Watcher {
  const counts = { behindPlacements: 0, turnsTaken: 0, turnsLost: 0, recalls: 0, cancelledBehind: 0, longestLine: 0 };
  const behind = new Set<string>();

  function checkLine(view: View, id: NodeId): void {
    const { claims = [] } = view.node(id) ?? {};
    const owners = claims.filter((claim) => claim.behind !== true);
    if (claims.length > 0 && owners.length === 0) world.violated("S1", `${id} has claims behind none`);
    if (owners.length === claims.length) return;
    counts.longestLine = Math.max(counts.longestLine, claims.length);
    if (owners.length !== 1) world.violated("S1", `${id} has ${owners.length} owners and a line behind them`);
    const groups = new Set(claims.map(({ allocation }) => elementOf(allocation)?.group));
    if (groups.size !== 1 || groups.has(undefined))
      world.violated("S1", `${id} has ${claims.map(({ allocation }) => allocation).join()} in one line`);
  }

  return {
    counts,
    leastPerHour: { behindPlacements: 100, turnsTaken: 80, turnsLost: 1 },
    applied({ view }: Replica, { effects, events }: Applied) {
      for (const effect of effects) {
        if (!("node" in effect)) continue;
        checkLine(view, effect.node);
        if (effect.kind !== "run") continue;
        const { node, allocation, attempt } = effect;
        const claim = view.node(node)?.claims.find((one) => one.allocation === allocation && one.attempt === attempt);
        if (claim?.behind !== true) continue;
        counts.behindPlacements += 1;
        behind.add(allocation);
      }
      for (const { kind, allocation, from, to, reason } of events) {
        if (kind !== "allocation_changed" || allocation === undefined || !behind.has(allocation)) continue;
        if (to === "running" && from === "staging") counts.turnsTaken += 1;
        if (to === "pending" && from === "staging" && reason === "node_failure") counts.turnsLost += 1;
        if (to === "pending" && reason === "recalled") counts.recalls += 1;
        if (to === "cancelled" && from === "staging") counts.cancelledBehind += 1;
        if (to !== "staging") behind.delete(allocation);
      }
    },
  };
}
