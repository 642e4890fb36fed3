// Compares estimates with actual starts. The first and the newest estimate of an allocation are remembered while it
// waits; both are compared with its start. Allocations that start without an estimate are not counted.

import type { AllocationId, Instant, VClusterId, View } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { NumberedEvent } from "../../state/events/cursor.ts";

interface EstimateRecord {
  recordEstimates(result: Pick<CycleResult, "estimates">, view: View): void;
  onEvents(events: readonly Pick<NumberedEvent, "at" | "event">[]): void;
  /** Returns the median error of recent estimates, or `null`. */
  typicalErrorMs(vcluster: VClusterId): number | null;
}

export type ObserveError = (vcluster: VClusterId, which: "first" | "last", seconds: number) => void;

/** Only the first allocations of the queue are remembered; later ones follow when their turn is nearer. */
const ESTIMATE_LIMIT = 20_000;
/** Errors remembered per vCluster. */
const RECENT = 101;

export function createEstimateRecord(observe: ObserveError): EstimateRecord {
  const estimated = new Map<AllocationId, { readonly first: Instant; last: Instant }>();
  const recent = new Map<VClusterId, number[]>();
  return {
    recordEstimates({ estimates }, view) {
      for (const [id, at] of estimates) {
        const known = estimated.get(id);
        if (known !== undefined) known.last = at;
        // A report may still contain allocations that have started since.
        else if (estimated.size < ESTIMATE_LIMIT && isPending(view, id)) estimated.set(id, { first: at, last: at });
      }
      if (estimated.size >= ESTIMATE_LIMIT)
        for (const id of estimated.keys()) if (!isPending(view, id)) estimated.delete(id);
    },
    onEvents(events) {
      for (const { at, event } of events) {
        if (event.kind !== "allocation_changed" || event.from !== "pending" || event.allocation === undefined) continue;
        const estimate = estimated.get(event.allocation);
        if (estimate === undefined) continue;
        estimated.delete(event.allocation);
        if (event.to !== "staging" && event.to !== "running") continue;
        if (event.vcluster === undefined) continue;
        observe(event.vcluster, "first", Math.abs(at - estimate.first) / 1000);
        observe(event.vcluster, "last", Math.abs(at - estimate.last) / 1000);
        remember(event.vcluster, Math.abs(at - estimate.first));
      }
    },
    typicalErrorMs(vcluster) {
      const errors = [...(recent.get(vcluster) ?? [])].sort((a, b) => a - b);
      return errors.length === 0 ? null : (errors[Math.floor(errors.length / 2)] ?? null);
    },
  };

  function remember(vcluster: VClusterId, errorMs: number): void {
    const errors = recent.get(vcluster) ?? [];
    errors.push(errorMs);
    if (errors.length > RECENT) errors.shift();
    recent.set(vcluster, errors);
  }
}

const isPending = (view: View, id: AllocationId): boolean => view.allocation(id)?.phase.kind === "pending";
