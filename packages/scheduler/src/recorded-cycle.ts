// Cycles whose decision is kept, for explanations and trials.

import type { AllocationId } from "@lattice/core";
import { decide } from "./cycle.ts";
import { type CycleRecord, recordOf } from "./explain/cycle-record.ts";
import { createExplainer } from "./explain/reasons.ts";
import { toResult } from "./explain/report.ts";
import { toJob } from "./fit/job.ts";
import { forecast } from "./forecast.ts";
import type { CycleInput, CycleResult, PendingReason } from "./input/cycle-input.ts";

interface RecordedCycle {
  readonly result: CycleResult;
  /** `null` when the cycle did not order its queue. */
  readonly record: CycleRecord | null;
}

/** Runs a cycle and keeps its decision. */
export function recordCycle(input: CycleInput): RecordedCycle {
  const decision = decide(input);
  const result = withForecast(input, toResult(input, decision));
  return { result, record: recordOf(input, decision, result) };
}

/** Reserved starts stay: work may use the grace after its walltime. */
function withForecast(input: CycleInput, result: CycleResult): CycleResult {
  const starts = input.report === "full" ? forecast(input, result) : null;
  if (starts === null) return result;
  const estimates = new Map([...result.estimates].filter(([id]) => starts.has(id)));
  for (const [id, at] of starts) estimates.set(id, at);
  for (const { allocation, startsAt } of result.reservations) estimates.set(allocation, startsAt);
  return { ...result, estimates };
}

/** Returns why this allocation is pending, also beyond the limit of a report; empty when it would start now. */
export function reasonsFor(input: CycleInput, id: AllocationId): readonly PendingReason[] {
  const pending = input.pending.find((job) => job.id === id);
  if (pending === undefined) return [];
  const decision = decide(input);
  if (decision.draft.placed.has(id)) return [];
  return createExplainer(decision).reasons(toJob(decision.draft.machine, pending, input.signals));
}
