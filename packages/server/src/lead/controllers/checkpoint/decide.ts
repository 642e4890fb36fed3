// Which running allocations are asked for a checkpoint now. Looks at each of them, has the scheduler's cost
// model say whether it pays, and shares out the storage: the allocations that gain most are asked first, and no more at
// a time than can be written before the next look. Pure; what is measured comes in.

import {
  type Allocation,
  type AllocationId,
  type AttemptCheckpointCommand,
  compareAllocationIds,
  type Instant,
  isPlaced,
  type Node,
  type NodeId,
  type PlacedPhase,
  type View,
} from "@lattice/core";
import { type Worth, type WorthRates, worthOf } from "@lattice/scheduler";
import { type QueuePressure, queuePressure } from "./pressure.ts";

export interface BrokerInputs {
  readonly now: Instant;
  readonly rates: WorthRates;
  /** What all checkpoints together may write. */
  readonly bytesPerSecond: number;
  /** Of one GPU: taken for what is written of it where nothing was measured. */
  readonly gpuMemoryBytes: number;
  /** Until the next look. */
  readonly windowSeconds: number;
  /** Why a node cannot write; empty: it can. */
  readonly storageError: (node: NodeId) => string;
}

export type Verdict = "take" | "wait" | "busy" | "storage_away" | "not_asked" | "not_running";

export interface Judgement extends Omit<Worth, "pays"> {
  readonly verdict: Verdict;
  readonly judgedAt: Instant;
  readonly sizeBytes: number;
  readonly sinceLastSeconds: number;
  readonly devices: number;
}

export interface BrokerDecision {
  readonly judgements: ReadonlyMap<AllocationId, Judgement>;
  readonly ask: readonly AttemptCheckpointCommand[];
  /** Minutes that a checkpoint takes. */
  readonly minutes: ReadonlyMap<AllocationId, number>;
  /** Those whose storage is away. */
  readonly cannotWrite: ReadonlySet<AllocationId>;
}

export function decideCheckpoints(view: View, inputs: BrokerInputs): BrokerDecision {
  const judgements = new Map<AllocationId, Judgement>();
  const minutes = new Map<AllocationId, number>();
  const cannotWrite = new Set<AllocationId>();
  const pressure = queuePressure(view);
  const wanting: Looked[] = [];
  let writing = 0;
  for (const record of view.placed()) {
    const looked = look(view, record, pressure, inputs);
    if (looked === null) continue;
    const { id } = record;
    minutes.set(id, looked.writeSeconds / 60);
    const away = looked.error !== "";
    if (away) cannotWrite.add(id);
    if (record.phase.kind === "checkpointing") writing += looked.writeSeconds;
    const verdict = verdictOf(record, looked, away);
    judgements.set(id, judgementOf(looked, verdict, inputs.now, away ? looked.error : looked.worth.reason));
    if (verdict === "take") wanting.push(looked);
  }
  const ask: AttemptCheckpointCommand[] = [];
  for (const looked of wanting.sort(byGain)) {
    const { id, attempt } = looked.record;
    const room = writing === 0 || writing + looked.writeSeconds <= inputs.windowSeconds;
    if (room) {
      writing += looked.writeSeconds;
      const message = `it pays: ${looked.worth.reason}`;
      ask.push({ kind: "attempt.checkpoint", allocation: id, attempt, cause: "broker", message });
      continue;
    }
    const reason = `${looked.worth.reason}; others write at present`;
    judgements.set(id, judgementOf(looked, "busy", inputs.now, reason));
  }
  return { judgements, ask, minutes, cannotWrite };
}

interface Looked {
  readonly record: Allocation;
  readonly worth: Worth;
  readonly sizeBytes: number;
  readonly writeSeconds: number;
  readonly sinceSeconds: number;
  readonly devices: number;
  /** Why it cannot be written; empty: it can. */
  readonly error: string;
}

/** Returns `null` for an allocation that takes no checkpoints or is not running. */
function look(view: View, record: Allocation, pressure: QueuePressure, inputs: BrokerInputs): Looked | null {
  const { phase, spec, checkpoints } = record;
  if (spec.checkpoint === undefined || !isPlaced(phase) || phase.kind === "staging") return null;
  const last = checkpoints?.last;
  const gpus = phase.nodes.reduce((sum, node) => sum + (view.node(node)?.capabilities.gpuCount ?? 0), 0);
  const devices = Math.max(phase.nodes.length, gpus);
  const sizeBytes =
    last !== undefined && last.bytes > 0 ? last.bytes : estimatedSize(view, record, phase, gpus, inputs);
  const writeSeconds = last === undefined ? sizeBytes / inputs.bytesPerSecond : last.took / 1000;
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

/** Of what a node holds in memory, without GPUs, the part that is taken to be worth keeping. */
const MEMORY_SHARE = 0.25;

function estimatedSize(
  view: View,
  { spec }: Allocation,
  { nodes }: PlacedPhase,
  gpus: number,
  { gpuMemoryBytes }: BrokerInputs,
): number {
  if (gpus > 0) return gpus * gpuMemoryBytes;
  const asked = spec.resources.constraints.memoryBytes * nodes.length;
  if (asked > 0) return asked;
  return nodes.reduce((sum, node) => sum + (view.node(node)?.capabilities.memoryBytes ?? 0) * MEMORY_SHARE, 0);
}

function verdictOf({ phase, spec }: Allocation, { worth }: Looked, away: boolean): Verdict {
  if (phase.kind !== "running") return "not_running";
  if (away) return "storage_away";
  if (spec.checkpoint?.auto !== true) return "not_asked";
  return worth.pays ? "take" : "wait";
}

const gainOf = ({ worth }: Looked): number => worth.value - worth.cost;

const byGain = (a: Looked, b: Looked): number =>
  gainOf(b) - gainOf(a) || compareAllocationIds(a.record.id, b.record.id);

function judgementOf(looked: Looked, verdict: Verdict, judgedAt: Instant, reason: string): Judgement {
  const { pays: _, ...worth } = looked.worth;
  const { sizeBytes, sinceSeconds: sinceLastSeconds, devices } = looked;
  return { ...worth, reason, verdict, judgedAt, sizeBytes, sinceLastSeconds, devices };
}
