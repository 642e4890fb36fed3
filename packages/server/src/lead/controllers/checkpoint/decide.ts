// Decides which running allocations take a checkpoint now. The scheduler's cost model judges each of them; those with
// the largest gain come first, as many as the storage can write before the next evaluation. Pure: measurements are
// inputs.

import {
  type Allocation,
  type AllocationId,
  type AttemptCheckpointCommand,
  compareAllocationIds,
  HIGHEST_CLASS,
  type Instant,
  isPlaced,
  type Node,
  type NodeId,
  preemptionProtection,
  type View,
} from "@lattice/core";
import { type Worth, type WorthRates, worthOf } from "@lattice/scheduler";
import { checkpointSize, type StorageRates } from "./size.ts";

export interface BrokerInputs extends StorageRates {
  readonly now: Instant;
  readonly rates: WorthRates;
  /** Time until the next evaluation. */
  readonly windowSeconds: number;
  /** Returns why a node cannot write checkpoints; empty when it can. */
  readonly storageError: (node: NodeId) => string;
}

type Verdict = "take" | "wait" | "busy" | "storage_away" | "not_asked" | "not_running";

export interface Judgement extends Omit<Worth, "pays"> {
  readonly verdict: Verdict;
  readonly judgedAt: Instant;
  readonly sizeBytes: number;
  readonly sinceLastSeconds: number;
  readonly devices: number;
}

interface BrokerDecision {
  readonly judgements: ReadonlyMap<AllocationId, Judgement>;
  readonly requests: readonly AttemptCheckpointCommand[];
  /** Minutes that a checkpoint takes. */
  readonly minutes: ReadonlyMap<AllocationId, number>;
  /** Allocations whose checkpoint storage is unavailable. */
  readonly cannotWrite: ReadonlySet<AllocationId>;
}

export function decideCheckpoints(view: View, inputs: BrokerInputs): BrokerDecision {
  const judgements = new Map<AllocationId, Judgement>();
  const minutes = new Map<AllocationId, number>();
  const cannotWrite = new Set<AllocationId>();
  const pressure = queuePressure(view);
  const eligible: Candidate[] = [];
  let writingSeconds = 0;
  for (const record of view.placed()) {
    const candidate = evaluate(view, record, pressure, inputs);
    if (candidate === null) continue;
    const { id } = record;
    minutes.set(id, candidate.writeSeconds / 60);
    const isAway = candidate.error !== "";
    if (isAway) cannotWrite.add(id);
    if (record.phase.kind === "checkpointing") writingSeconds += candidate.writeSeconds;
    const verdict = verdictOf(record, candidate, isAway);
    const reason = isAway ? candidate.error : candidate.worth.reason;
    judgements.set(id, judgementOf(candidate, verdict, inputs.now, reason));
    if (verdict === "take") eligible.push(candidate);
  }
  const requests: AttemptCheckpointCommand[] = [];
  for (const candidate of eligible.sort(byGain)) {
    const { id, attempt } = candidate.record;
    const fits = writingSeconds === 0 || writingSeconds + candidate.writeSeconds <= inputs.windowSeconds;
    if (fits) {
      writingSeconds += candidate.writeSeconds;
      const message = `it pays: ${candidate.worth.reason}`;
      requests.push({ kind: "attempt.checkpoint", allocation: id, attempt, cause: "broker", message });
      continue;
    }
    const reason = `${candidate.worth.reason}; others write at present`;
    judgements.set(id, judgementOf(candidate, "busy", inputs.now, reason));
  }
  return { judgements, requests, minutes, cannotWrite };
}

interface Candidate {
  readonly record: Allocation;
  readonly worth: Worth;
  readonly sizeBytes: number;
  readonly writeSeconds: number;
  readonly sinceSeconds: number;
  readonly devices: number;
  /** The storage problem; empty when the checkpoint can be written. */
  readonly error: string;
}

/** Returns `null` for an allocation that takes no checkpoints or is not running. */
function evaluate(view: View, record: Allocation, pressure: QueuePressure, inputs: BrokerInputs): Candidate | null {
  const { phase, spec, checkpoints } = record;
  if (spec.checkpoint === undefined || !isPlaced(phase) || phase.kind === "staging") return null;
  const last = checkpoints?.last;
  const { devices, sizeBytes, writeSeconds } = checkpointSize(view, record, phase, inputs);
  const since = last?.attempt === record.attempt ? last.at : phase.startedAt;
  const sinceSeconds = Math.max(0, inputs.now - since) / 1000;
  const { walltime } = spec.lifecycle;
  const worth = worthOf(
    {
      nodes: phase.nodes.length,
      devices,
      sizeBytes,
      writeSeconds,
      sinceSeconds,
      unhealthyNodes: phase.nodes.filter((node) => isUnhealthy(view.node(node))).length,
      ...pressure.on(record),
      backlog: pressure.backlog,
      remainingSeconds: walltime === null ? null : Math.max(0, phase.startedAt + walltime - inputs.now) / 1000,
    },
    inputs.rates,
  );
  const error = phase.nodes.map((node) => inputs.storageError(node)).find((text) => text !== "") ?? "";
  return { record, worth, sizeBytes, writeSeconds, sinceSeconds, devices, error };
}

/** A node is at risk when it is silent or has a hardware warning. A drained node is not. */
const isUnhealthy = (node: Node | undefined): boolean => node?.state.kind === "degraded" || node?.warning !== undefined;

function verdictOf({ phase, spec }: Allocation, { worth }: Candidate, isAway: boolean): Verdict {
  if (phase.kind !== "running") return "not_running";
  if (isAway) return "storage_away";
  if (spec.checkpoint?.auto !== true) return "not_asked";
  return worth.pays ? "take" : "wait";
}

const gainOf = ({ worth }: Candidate): number => worth.value - worth.cost;

const byGain = (a: Candidate, b: Candidate): number =>
  gainOf(b) - gainOf(a) || compareAllocationIds(a.record.id, b.record.id);

function judgementOf(candidate: Candidate, verdict: Verdict, judgedAt: Instant, reason: string): Judgement {
  const { pays: _, ...worth } = candidate.worth;
  const { sizeBytes, sinceSeconds: sinceLastSeconds, devices } = candidate;
  return { ...worth, reason, verdict, judgedAt, sizeBytes, sinceLastSeconds, devices };
}

// Queue pressure: how much pending work weighs against running work in the broker's decisions. Computed once
// for all running allocations.

interface QueuePressure {
  /** Nodes requested by pending allocations as a share of all nodes; at most 1. */
  readonly backlog: number;
  /** Pending allocations of higher classes, weighted by class, and the number of running allocations below them. */
  on(record: Allocation): { readonly urgencyAbove: number; readonly candidates: number };
}

/** Pending allocations counted; a longer queue would not change the result. */
const MAX_PENDING = 1_000;

function queuePressure(view: View): QueuePressure {
  const waiting = new Array<number>(HIGHEST_CLASS + 1).fill(0);
  let requestedNodes = 0;
  let counted = 0;
  for (const { id } of view.vclusters()) {
    for (const { spec } of view.pending(id)) {
      counted += 1;
      if (counted > MAX_PENDING) break;
      requestedNodes += spec.resources.minNodes;
      const of = Math.min(HIGHEST_CLASS, spec.lifecycle.preemptionClass);
      waiting[of] = (waiting[of] ?? 0) + 1;
    }
  }
  const running = new Array<number>(HIGHEST_CLASS + 1).fill(0);
  if (counted > 0) {
    for (const record of view.placed()) {
      const of = record.spec.lifecycle.preemptionClass;
      if (preemptionProtection(view, record) === null) running[of] = (running[of] ?? 0) + 1;
    }
  }
  const highest = waiting.findLastIndex((count) => count > 0);
  const candidates = running.reduce((sum, count, of) => (of < highest ? sum + count : sum), 0);
  return {
    backlog: view.nodeCount === 0 ? 0 : Math.min(1, requestedNodes / view.nodeCount),
    on(record) {
      const own = record.spec.lifecycle.preemptionClass;
      if (own >= highest || preemptionProtection(view, record) !== null) return { urgencyAbove: 0, candidates: 0 };
      const urgencyAbove = waiting.reduce(
        (sum, count, of) => (of > own ? sum + (count * (of - own)) / HIGHEST_CLASS : sum),
        0,
      );
      return { urgencyAbove, candidates };
    },
  };
}
