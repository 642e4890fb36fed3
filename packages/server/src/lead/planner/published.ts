// The newest cycle of a vCluster as the server sees it: the plan, and lookups of causes and estimates. The report stays
// packed; a brief report is a small layer over it.

import { type AllocationId, type Instant, instant } from "@lattice/core";
import type { PendingReason, Reservation } from "@lattice/scheduler";
import type { CycleReply, ReportChange } from "./messages.ts";
import { numberAt, textAt } from "./packed.ts";

export interface PublishedCycle extends Omit<CycleReply, "reservations" | "report"> {
  readonly reservations: readonly Reservation[];
  isReserved(id: AllocationId): boolean;
  /** A report may still contain allocations that are no longer pending. */
  reasons(id: AllocationId): readonly PendingReason[] | undefined;
  estimate(id: AllocationId): Instant | undefined;
}

interface Report {
  readonly full: Extract<ReportChange, { readonly kind: "full" }> | null;
  readonly estimates: Map<AllocationId, Instant | null>;
  readonly reasons: Map<AllocationId, readonly PendingReason[] | null>;
}

const reports = new WeakMap<PublishedCycle, Report>();

/** `before`: the published cycle of the same vCluster before this reply. */
export function publish(reply: CycleReply, before: PublishedCycle | undefined): PublishedCycle {
  const report = reportAfter(reply, before);
  const { full, estimates, reasons } = report;
  const reservations = reply.reservations.map((one) =>
    typeof one === "number" ? (before?.reservations[one] as Reservation) : one,
  );
  const reserved = new Set(reservations.map(({ allocation }) => allocation));
  const published: PublishedCycle = {
    ...reply,
    reservations,
    isReserved: (id) => reserved.has(id),
    reasons(id) {
      const newer = reasons.get(id);
      if (newer !== undefined) return newer ?? undefined;
      return full === null ? undefined : (textAt(full.reasons, id) as readonly PendingReason[] | undefined);
    },
    estimate(id) {
      const newer = estimates.get(id);
      if (newer !== undefined) return newer ?? undefined;
      const at = full === null ? undefined : numberAt(full.estimates, id);
      return at === undefined ? undefined : instant(at);
    },
  };
  reports.set(published, report);
  return published;
}

function reportAfter({ report, placements }: CycleReply, before: PublishedCycle | undefined): Report {
  if (report.kind === "full") return { full: report, estimates: new Map(), reasons: new Map() };
  const last = (before && reports.get(before)) ?? { full: null, estimates: new Map(), reasons: new Map() };
  for (const { allocation } of placements) {
    last.estimates.set(allocation, null);
    last.reasons.set(allocation, null);
  }
  for (const [id, at] of report.estimates) last.estimates.set(id, at);
  for (const [id, reasons] of report.reasons) last.reasons.set(id, reasons);
  return last;
}
