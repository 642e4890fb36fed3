// The memory of the planner between calls, and the input of a cycle from it.

import {
  type AllocationId,
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
  snapshotFor,
} from "@lattice/scheduler";
import type { Clock } from "../../base/clock.ts";
import { createEstimateRecord, type ObserveError } from "./estimate-record.ts";
import { createScheduleMemory, foreignReservations } from "./memory.ts";
import type { CallFacts, MeasuredFacts } from "./messages.ts";

export interface PlannerParts {
  readonly view: () => View;
  /** For durations only: the time of a call is in its facts. */
  readonly clock: Pick<Clock, "worked">;
  readonly isReachable: (node: NodeId) => boolean;
  readonly measured: () => MeasuredFacts;
  readonly observeError: ObserveError;
}

export type PlannerState = ReturnType<typeof createPlannerState>;

export function createPlannerState(parts: PlannerParts) {
  return {
    parts,
    memory: createScheduleMemory(parts.view),
    /** The newest result of each vCluster, with its report. */
    cycles: new Map<VClusterId, CycleResult>(),
    /** The time of the newest cycle of each vCluster. */
    lastAt: new Map<VClusterId, Instant>(),
    /** The newest explainable cycle of each vCluster. */
    records: new Map<VClusterId, CycleRecord>(),
    estimates: createEstimateRecord(parts.observeError),
  };
}

/** Returns the time of the call, never earlier than the state. */
export const nowOf = ({ parts }: PlannerState, { now }: CallFacts): Instant => instant(Math.max(now, parts.view().at));

export function measuredInputs({ parts }: PlannerState): Pick<ExternalInputs, "signals" | "isStale"> {
  const { signals, stale } = parts.measured();
  return {
    ...(signals === undefined ? {} : { signals }),
    ...(stale === null ? {} : { isStale: (node: NodeId) => stale.has(node) }),
  };
}

interface SnapshotRequest {
  readonly vcluster: VCluster;
  readonly at: Instant;
  readonly budgetDays: number;
  /** Default: the present one. */
  readonly view?: View;
}

/** Returns the input of a cycle outside the loop. */
export function snapshotAt(state: PlannerState, { vcluster, at, budgetDays, view }: SnapshotRequest): CycleInput {
  const { parts, cycles } = state;
  return snapshotFor(view ?? parts.view(), vcluster, at, parts.isReachable, {
    previousReservations: cycles.get(vcluster.id)?.reservations ?? [],
    foreignReservations: foreignReservations(parts.view(), cycles, vcluster.id, at),
    budgetDays,
    ...measuredInputs(state),
  });
}

export const isPending = (view: View, id: AllocationId): boolean => view.allocation(id)?.phase.kind === "pending";
