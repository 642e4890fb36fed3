// Metrics of failures: requeued work, lost nodes, failed prologues. Counted by the leader from committed entries, so that
// the sum over all servers is correct.

import type { Event } from "@lattice/core";
import { Counter, Gauge, type Registry } from "prom-client";

export interface FailureMetrics {
  /** An event of a committed entry. */
  failureEvent(event: Event): void;
  /** Nodes held and allowed per tenant; `most` is `null` without a limit. */
  quotas(all: Iterable<{ readonly tenant: string; readonly used: number; readonly most: number | null }>): void;
}

const PLACED: readonly string[] = ["staging", "running", "checkpointing"];

export function failureMetrics(registry: Registry): FailureMetrics {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name, help, labelNames, registers });
  const requeues = counter("lattice_requeues_total", "Attempts that ended with a requeue.", ["cause"]);
  const losses = counter("lattice_node_losses_total", "Nodes that went down, by cause.", ["cause"]);
  const retries = counter(
    "lattice_prologue_retries_total",
    "Allocations requeued because the prologue failed on a node.",
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
    help: "Nodes that a tenant may hold; absent without a limit.",
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
