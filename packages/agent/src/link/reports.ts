// Reports that the server has not acknowledged, the newest of each attempt: a later state includes the earlier one.
// The buffer is bounded. When it is full, the oldest "running" report goes first (the server asks again), then the
// oldest end, which is still on disk and part of the next Hello.

import type { UsageValues } from "@lattice/core";
import type { NodeCheckpointResult } from "../checkpoint/types.ts";
import type { End } from "../lifecycle/attempt.ts";

/** `checkpoint`: the newest finished checkpoint, if any. */
export type ReportBody =
  | { readonly kind: "running"; readonly atMs: number; readonly checkpoint?: NodeCheckpointResult | null }
  | {
      readonly kind: "end";
      readonly end: End;
      readonly checkpoint?: NodeCheckpointResult | null;
      readonly used?: UsageValues | null;
      /** When its process started. Missing when it has not. */
      readonly startedAtMs?: number;
    };

export interface PendingReport {
  readonly number: number;
  readonly allocationId: string;
  readonly attempt: number;
  readonly body: ReportBody;
}

/** A node holds far fewer attempts; more means a server that acknowledges nothing. */
const MAX_PENDING_REPORTS = 10_000;

export interface ReportBuffer {
  add(key: string, of: Omit<PendingReport, "number">): PendingReport;
  /** Returns the attempt whose end is acknowledged, or null. */
  acknowledge(number: number): string | null;
  forget(key: string): void;
  /** Oldest first. */
  pending(): readonly PendingReport[];
}

export function reportBuffer(limit: number = MAX_PENDING_REPORTS): ReportBuffer {
  const byKey = new Map<string, PendingReport>();
  const keyOf = new Map<number, string>();
  let last = 0;

  function drop(key: string): void {
    const old = byKey.get(key);
    if (old === undefined) return;
    byKey.delete(key);
    keyOf.delete(old.number);
  }

  function makeRoom(): void {
    if (byKey.size < limit) return;
    let victim: string | undefined;
    for (const [key, report] of byKey) {
      victim ??= key;
      if (report.body.kind === "running") {
        victim = key;
        break;
      }
    }
    if (victim !== undefined) drop(victim);
  }

  return {
    add(key, of) {
      drop(key);
      makeRoom();
      last += 1;
      const report = { ...of, number: last };
      byKey.set(key, report);
      keyOf.set(last, key);
      return report;
    },
    acknowledge(number) {
      const key = keyOf.get(number);
      if (key === undefined) return null;
      const ended = byKey.get(key)?.body.kind === "end";
      drop(key);
      return ended ? key : null;
    },
    forget: drop,
    pending: () => [...byKey.values()],
  };
}
