// Cycles whose decision is kept, for explanations and trials.

import type { AllocationId } from "@lattice/core";
import { decide } from "./cycle.ts";
import { type CycleRecord, recordOf } from "./explain/cycle-record.ts";
import { createExplainer } from "./explain/reasons.ts";
import { toResult } from "./explain/report.ts";
import { toJob } from "./fit/job.ts";
import type { CycleInput, CycleResult, PendingReason } from "./input/cycle-input.ts";

interface RecordedCycle {
  readonly result: CycleResult;
  /** `null` when the cycle did not order its queue. */
  readonly record: CycleRecord | null;
}

/** Runs a cycle and keeps its decision. */
export function recordCycle(input: CycleInput): RecordedCycle {
  const decision = decide(input);
  const result = toResult(input, decision);
  return { result, record: recordOf(input, decision, result) };
}

/** Returns why this allocation is pending, also beyond the limit of a report; empty when it would start now. */
export function reasonsFor(input: CycleInput, id: AllocationId): readonly PendingReason[] {
  const pending = input.pending.find((job) => job.id === id);
  if (pending === undefined) return [];
  const decision = decide(input);
  if (decision.draft.placed.has(id)) return [];
  return createExplainer(decision).reasons(toJob(decision.draft.machine, pending, input.signals));
}
