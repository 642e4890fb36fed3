// The state behind answers about the scheduler, and the inputs of a cycle outside the loop: the view, reservations of
// earlier cycles, and what is measured but not replicated.

import {
  type AllocationId,
  type Duration,
  type Instant,
  instant,
  type NodeId,
  type VCluster,
  type VClusterId,
  type View,
} from "@lattice/core";
import {
  type CycleInput,
  type CycleRecord,
  type CycleResult,
  type ExternalInputs,
  type Signals,
  snapshotFor,
} from "@lattice/scheduler";
import type { Clock } from "../../base/clock.ts";
import type { MetricsComponent } from "../../base/observe/components.ts";
import type { Recorded } from "../../base/observe/recorder.ts";
import type { CheckpointAnswer, CheckpointSignals } from "../controllers/checkpoint/answer.ts";
import { foreignReservations } from "../controllers/schedule/memory.ts";
import type { Samples } from "../telemetry/samples.ts";
import { createCycleStatistics } from "./cycle-statistics.ts";
import { createEstimateRecord, type ObserveError } from "./estimate-record.ts";
import { createReservationLog } from "./reservation-log.ts";
import { createSignalStore, withStorage } from "./signals.ts";

export type MeasuredInputs = Pick<ExternalInputs, "signals" | "isStale">;

export interface InsightOptions {
  readonly view: () => View;
  readonly clock: Clock;
  readonly isReachable: (node: NodeId) => boolean;
  /** When a node last reported its fingerprint; `null` when unknown. */
  readonly fingerprintAt: (node: NodeId) => Instant | null;
  /** The greatest age of a fingerprint; `null` without a limit. */
  readonly fingerprintWindow: Duration | null;
  /** The configured limit of storage; `null` when only signals limit it. */
  readonly storageMBps: number | null;
  readonly observeError: ObserveError;
  /** Days over which use counts towards budgets and shares. */
  readonly budgetDays: number;
  readonly checkpoints: { answer(id: AllocationId): CheckpointAnswer; signals(): CheckpointSignals };
  /** Measurements of agents, when they are collected. */
  readonly samples?: Pick<Samples, "since">;
  /** Returns what this server counts for one component. */
  readonly recorded: (component: MetricsComponent, after: number | null) => Recorded;
  /** Whether a first submission creates its tenant. */
  readonly createTenants: boolean;
}

export type InsightState = ReturnType<typeof createInsightState>;

export function createInsightState(options: InsightOptions) {
  return {
    options,
    /** The newest published result of each vCluster. */
    cycles: new Map<VClusterId, CycleResult>(),
    /** The newest explainable cycle of each vCluster. */
    records: new Map<VClusterId, CycleRecord>(),
    estimates: createEstimateRecord(options.observeError),
    reservations: createReservationLog(),
    signals: createSignalStore(),
    statistics: createCycleStatistics(),
    staleAt: createStaleness(options),
  };
}

/** Returns the present time, never earlier than the state. */
export const nowOf = ({ options }: InsightState): Instant => instant(Math.max(options.clock.now(), options.view().at));

export function externalInputs(state: InsightState, vcluster: VClusterId, at: Instant): ExternalInputs {
  const { options, cycles } = state;
  return {
    previousReservations: cycles.get(vcluster)?.reservations ?? [],
    foreignReservations: foreignReservations(options.view(), cycles, vcluster, at),
    budgetDays: options.budgetDays,
    ...measuredInputs(state, at),
  };
}

export function measuredInputs({ options, signals, staleAt }: InsightState, at: Instant): MeasuredInputs {
  const isStale = staleAt(at);
  return {
    signals: mergeSignals(withStorage(signals.forCycle(at), options.storageMBps), options.checkpoints.signals()),
    ...(isStale === null ? {} : { isStale }),
  };
}

export function snapshotAt(
  state: InsightState,
  vcluster: VCluster,
  at: Instant,
  view = state.options.view(),
): CycleInput {
  return snapshotFor(view, vcluster, at, state.options.isReachable, externalInputs(state, vcluster.id, at));
}

/** Signals take precedence over estimates of the broker. */
function mergeSignals(sent: Signals | undefined, broker: CheckpointSignals): Signals {
  const both = [...(broker.checkpointMinutes ?? []), ...(sent?.checkpointMinutes ?? [])];
  return { ...sent, ...broker, ...(both.length === 0 ? {} : { checkpointMinutes: new Map(both) }) };
}

interface StaleParts {
  readonly view: () => Pick<View, "nodes">;
  /** When a node last reported its fingerprint; `null` when unknown. */
  readonly fingerprintAt: (node: NodeId) => Instant | null;
  /** The greatest age of a fingerprint; `null` without a limit. */
  readonly fingerprintWindow: Duration | null;
}

/** All nodes are checked at most this often: a node may have an old fingerprint when its drain ends. */
const CHECK_INTERVAL_MS = 60_000;

/**
 * Returns a predicate for nodes whose fingerprint is too old; `null` when there are none, which is nearly always: with a
 * predicate, every cycle builds its snapshot from scratch. Nodes that take no work are ignored.
 */
function createStaleness(parts: StaleParts): (at: Instant) => ((node: NodeId) => boolean) | null {
  const { fingerprintWindow, fingerprintAt } = parts;
  if (fingerprintWindow === null) return () => null;
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (at) => {
    if (at < quietUntil) return null;
    const isStale = (node: NodeId): boolean => {
      const reportedAt = fingerprintAt(node);
      return reportedAt !== null && at - reportedAt > fingerprintWindow;
    };
    let oldest: number = at;
    for (const { id, state } of parts.view().nodes()) {
      if (state.kind === "ready") oldest = Math.min(oldest, fingerprintAt(id) ?? at);
    }
    if (at - oldest > fingerprintWindow) return isStale;
    quietUntil = Math.min(at + CHECK_INTERVAL_MS, oldest + fingerprintWindow + 1);
    return null;
  };
}
