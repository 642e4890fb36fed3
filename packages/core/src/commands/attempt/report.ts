// attempt.report: one node's report about one attempt. It counts only while the node holds a claim for the attempt,
// only forwards, and once. A report for a claim that is being released can only release it: a late report never revives
// an allocation that was cancelled, requeued or has ended.

import { instant } from "../../base/ids.ts";
import { invariant, present } from "../../base/invariant.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, unchanged } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { endOfAttempt, hasEnded, lastEndAfter } from "../../model/allocation/attempt-end.ts";
import { attemptOn } from "../../model/allocation/node-attempts.ts";
import { isPlaced, type NodeProgress, type PlacedPhase } from "../../model/allocation/phase.ts";
import type { AttemptReport } from "../../model/allocation/report.ts";
import { withUsage } from "../../model/allocation/usage.ts";
import { moveAllocation } from "../../transitions/allocation/move.ts";
import { failOrRequeue } from "../../transitions/attempt/failure.ts";
import { checkpointFailed, recordCheckpointAnswer, resumeRunning } from "../../transitions/checkpoint/answer.ts";
import { forgetAttempt, releaseNodes } from "../../transitions/claims/release-nodes.ts";
import { returnFromBehind } from "../../transitions/claims/return-from-behind.ts";
import { recordFault } from "../../transitions/node/faults.ts";
import { quarantineAfterFailure } from "../../transitions/node/quarantine.ts";
import { loseNode } from "../../transitions/scaling/lose-node.ts";
import { haltRenewal } from "../../transitions/scaling/renewal.ts";
import type { Step } from "../../transitions/step.ts";
import { retryElsewhere } from "./failed-start.ts";

export interface ReportCommand extends AttemptReport {
  readonly kind: "attempt.report";
}

/** The order of states; reports only move up. */
export const PROGRESS_RANK: Readonly<Record<NodeProgress["state"], number>> = {
  ordered: 0,
  staging: 1,
  running: 2,
  completed: 3,
  failed: 3,
};

export function applyReport(step: Step, report: ReportCommand): Outcome {
  const { allocation, attempt, node } = report;
  const heard = hear(step, report);
  const claim = claimOf(step, report);
  // The last report completed the checkpoint, and the attempt had already ended.
  if (claim === undefined && heard) return accepted(allocation);
  if (claim === undefined) {
    return refuse("not_assigned", `node "${node}" is not assigned to attempt ${attempt} of allocation ${allocation}`);
  }
  if (claim.releasing) return confirmEnd(step, report, heard);
  const placed = present(step.state.allocation(allocation), `the claim of ${allocation} on ${node} has no allocation`);
  const record = withStart(step, placed, report);
  const { phase } = record;
  invariant(
    isPlaced(phase) && attemptOn(record, node) === attempt,
    `the claim of ${allocation} on ${node} is out of step`,
  );
  const position = phase.nodes.indexOf(node);
  const known = present(phase.progress[position], `${node} has no progress in ${allocation}`);
  // A node that has reported success cannot report a failure afterwards.
  const isDone = known.state === "completed" && known.exitCode === 0;
  const state = !isDone && endedWithCheckpoint(phase, position, report) ? "completed" : report.state;
  if (known.state === state) return heard ? accepted(allocation) : unchanged(allocation);
  if (PROGRESS_RANK[state] <= PROGRESS_RANK[known.state]) {
    if (heard) return accepted(allocation);
    return refuse("stale_report", `node "${node}" has already reported ${known.state}, so ${report.state} is too late`);
  }

  const { exitCode, message } = report;
  const now: NodeProgress = { state, exitCode, message };
  const updated: PlacedPhase = {
    ...phase,
    progress: phase.progress.with(position, now),
    ...(hasEnded(now) ? { lastEndAt: lastEndAfter(phase, report.endedAt, step.at) } : {}),
  };
  if (report.recalled === true && phase.kind === "staging") {
    returnFromBehind(step, record, updated, { cause: "recalled", message: "", lostNode: null });
    return accepted(allocation);
  }
  recordFault(step, { ...report, state }, phase);
  aggregate(step, withUsage(record, report), updated, { ...report, state });
  if (state === "failed") quarantineAfterFailure(step, node, report.quarantineRule);
  return accepted(allocation);
}

const claimOf = (step: Step, { node, allocation, attempt }: ReportCommand) =>
  step.state.node(node)?.claims.find((claim) => claim.allocation === allocation && claim.attempt === attempt);

/** Applies the checkpoint part of a report before the attempt part. Returns whether it changed anything. */
function hear(step: Step, report: ReportCommand): boolean {
  const { checkpoint: word, node } = report;
  const record = word === undefined ? undefined : step.state.allocation(report.allocation);
  if (word === undefined || record?.attempt !== report.attempt || claimOf(step, report)?.releasing !== false)
    return false;
  return recordCheckpointAnswer(step, record, { node, word, walltime: report.reason === "walltime_exceeded" });
}

/** The checkpoint is written and the attempt is about to be suspended, so its end is no failure. */
function endedWithCheckpoint(phase: PlacedPhase, position: number, { state }: ReportCommand): boolean {
  if (phase.kind !== "checkpointing" || state !== "failed") return false;
  return phase.request.answers[position] !== null && phase.request.next === "suspend";
}

/** Only the end of the attempt matters now. */
function confirmEnd(step: Step, report: ReportCommand, heard: boolean): Outcome {
  const { node, allocation, attempt, state } = report;
  if (PROGRESS_RANK[state] < PROGRESS_RANK.completed) return heard ? accepted(allocation) : unchanged(allocation);
  const record = step.state.allocation(allocation);
  // The record may be in the history already.
  if (record !== undefined && report.usage !== undefined) step.state.putAllocation(withUsage(record, report));
  forgetAttempt(step, node, { allocation, attempt });
  return accepted(allocation);
}

/** Failures of the node rather than of the work. */
const OF_THE_NODE: readonly string[] = ["lost", "launch_failed", "prologue_failed"];

/** Failures before the work started there, whatever the cause. */
const isUnbegun = ({ reason, prologueRetries }: ReportCommand): boolean =>
  reason === "prologue_failed" || (reason === "launch_failed" && prologueRetries !== undefined);

/** Any node failed: failed; all completed: completed; all at least running: running. */
export function aggregate(step: Step, record: Allocation, updated: PlacedPhase, report: ReportCommand): void {
  const over = report.state === "failed" || report.state === "completed";
  if (over && haltRenewal(step, record, updated, report)) return;
  if (report.state === "failed") {
    const { exitCode, message } = report;
    if (OF_THE_NODE.includes(report.reason ?? "exit_code")) {
      const detail = `${report.reason ?? ""}: ${message}`;
      if (loseNode(step, record, updated, { node: report.node, reason: "node_failure", detail, isLost: false })) return;
    }
    if (isUnbegun(report)) retryElsewhere(step, record, updated, report);
    else if (updated.kind === "checkpointing" && updated.request.next === "suspend") {
      checkpointFailed(step, record, updated, message === "" ? `it ended on ${report.node}` : message);
    } else
      failOrRequeue(step, record, updated, { reason: report.reason ?? "exit_code", exitCode, message, lostNode: null });
    return;
  }
  const started = storeProgress(step, record, updated);
  if (report.state !== "completed" || !isPlaced(started.phase)) return;
  const { phase } = started;
  if (phase.kind === "staging" || phase.progress.some((node) => node.state !== "completed")) return;
  if (phase.kind === "checkpointing" && phase.progress.some((node) => node.exitCode !== 0)) {
    checkpointFailed(step, started, phase, "it ended on some nodes before all had theirs");
    return;
  }
  const { nodes, startedAt } = phase;
  const endedAt = endOfAttempt(phase, step.at);
  releaseNodes(step, started, phase, { lostNode: null, reason: "completed" });
  // The work completed before its checkpoint.
  const last = phase.kind === "checkpointing" ? moveAllocation(step, started, resumeRunning(phase)) : started;
  moveAllocation(step, last, { kind: "completed", nodes, startedAt, endedAt, exitCode: 0, message: "" });
}

/**
 * Stores the progress; when the last node has started, the allocation is running. Of an attempt that has ended before its
 * start was reported, only the end is known.
 */
function storeProgress(step: Step, record: Allocation, updated: PlacedPhase): Allocation {
  const startedAt = endOfAttempt(updated, step.at);
  const all = updated.progress.every((node) => PROGRESS_RANK[node.state] >= PROGRESS_RANK.running);
  if (updated.kind === "staging" && all)
    return moveAllocation(step, record, { ...withoutTurn(updated), kind: "running", startedAt });
  const stored = { ...record, phase: updated };
  step.state.putAllocation(stored);
  return stored;
}

/** The end of short work comes with its start, in one report. Several nodes report their starts. */
function withStart(step: Step, record: Allocation, report: ReportCommand): Allocation {
  const { phase } = record;
  if (phase.kind !== "staging" || phase.nodes.length !== 1 || report.startedAt === undefined) return record;
  const startedAt = instant(Math.max(phase.placedAt, Math.min(report.startedAt, report.endedAt ?? step.at, step.at)));
  const progress: readonly NodeProgress[] = [{ state: "running", exitCode: null, message: "" }];
  return moveAllocation(step, record, { ...withoutTurn(phase), kind: "running", startedAt, progress });
}

function withoutTurn(phase: Extract<PlacedPhase, { readonly kind: "staging" }>) {
  const { turnBy: _over, ...placed } = phase;
  return placed;
}
