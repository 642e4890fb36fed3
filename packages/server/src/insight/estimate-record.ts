// The record of estimates against the truth. The first estimate that an allocation was given and the newest are
// remembered while it waits; when it is placed, both are held against that instant. Those that start without
// ever having been told a time are not counted: nobody was misled.

import type { AllocationId, Instant, VClusterId, View } from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import type { NumberedEvent } from "../api/control-plane.ts";

export interface EstimateRecord {
  took(result: Pick<CycleResult, "estimates">, view: View): void;
  saw(events: readonly NumberedEvent[]): void;
  /** Half of the newest were off by no more; null: there are none. */
  typicalErrorMs(vcluster: VClusterId): number | null;
}

export type ObserveError = (vcluster: VClusterId, which: "first" | "last", seconds: number) => void;

/** The first of the queue: those behind them are remembered when their turn is nearer. */
const MOST_REMEMBERED = 20_000;
/** Of each vCluster, for what is typical. */
const RECENT = 101;

export function createEstimateRecord(observe: ObserveError): EstimateRecord {
  const given = new Map<AllocationId, { readonly first: Instant; last: Instant }>();
  const recent = new Map<VClusterId, number[]>();
  return {
    took({ estimates }, view) {
      for (const [id, at] of estimates) {
        const known = given.get(id);
        if (known !== undefined) known.last = at;
        // The maps of a report may still hold some that have started since.
        else if (given.size < MOST_REMEMBERED && isPending(view, id)) given.set(id, { first: at, last: at });
      }
      if (given.size >= MOST_REMEMBERED) for (const id of given.keys()) if (!isPending(view, id)) given.delete(id);
    },
    saw(events) {
      for (const { at, event } of events) {
        if (event.kind !== "allocation_changed" || event.from !== "pending" || event.allocation === undefined) continue;
        const estimate = given.get(event.allocation);
        if (estimate === undefined) continue;
        given.delete(event.allocation);
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
