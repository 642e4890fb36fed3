// What failures are watched by: work that is queued again, nodes that are lost, nodes that could not be made ready. Counted by the server
// that leads, from what is committed, so that the sum over all servers is what happened.

import type { Event } from "@lattice/core";
import { Counter, Gauge, type Registry } from "prom-client";

export interface FailureMetrics {
  /** What a committed entry says of failures. */
  failureEvent(event: Event): void;
  /** What tenants hold of what they may; null: as much as there is. */
  quotas(all: Iterable<{ readonly tenant: string; readonly used: number; readonly most: number | null }>): void;
}

const PLACED: readonly string[] = ["staging", "running", "checkpointing"];

export function failureMetrics(registry: Registry): FailureMetrics {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name, help, labelNames, registers });
  const requeues = counter("lattice_requeues_total", "Attempts that ended with the allocation in the queue again.", [
    "cause",
  ]);
  const losses = counter("lattice_node_losses_total", "Nodes that went down, by cause.", ["cause"]);
  const retries = counter(
    "lattice_prologue_retries_total",
    "Allocations that are tried elsewhere because a node could not be made ready for them.",
  );
  const quarantines = counter("lattice_nodes_quarantined_total", "Nodes quarantined because work failed there.");
  const used = new Gauge({
    name: "lattice_quota_used_nodes",
    help: "Nodes that a tenant holds.",
    labelNames: ["tenant"],
    registers,
  });
  const most = new Gauge({
    name: "lattice_quota_max_nodes",
    help: "Nodes that a tenant may hold; absent: no limit.",
    labelNames: ["tenant"],
    registers,
  });
  return {
    failureEvent({ kind, from = "", to, reason = "" }) {
      if (kind === "allocation_changed" && to === "pending" && PLACED.includes(from)) {
        requeues.inc({ cause: reason });
        if (reason === "prologue_failed") retries.inc();
      }
      if (kind !== "node_changed" || to !== "down" || from === "down") return;
      losses.inc({ cause: reason });
      if (reason === "quarantined") quarantines.inc();
    },
    quotas(all) {
      used.reset();
      most.reset();
      for (const each of all) {
        used.set({ tenant: each.tenant }, each.used);
        if (each.most !== null) most.set({ tenant: each.tenant }, each.most);
      }
    },
  };
}
