// vClusters: queues with a scheduling policy. Weights are in thousandths, because replicated state holds no floats.

import type { Duration, Instant, TenantId, VClusterId } from "../../base/ids.ts";
import type { Lending, Preemptible } from "./lending.ts";

export type SchedulerKind =
  | "hpc_backfill"
  | "ml_training"
  | "service_bin_pack"
  | "interactive_fifo"
  | "sensitive_reservation";

export type Factor =
  | "priority"
  | "wait_time"
  | "fair_share"
  | "topology"
  | "data_readiness"
  | "backlog"
  | "energy"
  | "checkpoint"
  | "conformance";

/** Thousandths. */
export type Weights = Readonly<Record<Factor, number>>;

export interface VCluster {
  readonly id: VClusterId;
  readonly description: string;
  /** `null` when the vCluster serves all tenants. */
  readonly tenant: TenantId | null;
  readonly scheduler: SchedulerKind;
  readonly weights: Weights;
  readonly cycleInterval: Duration;
  readonly backfillDepth: number;
  readonly defaultWalltime: Duration;
  readonly maxWalltime: Duration | null;
  readonly isDefault: boolean;
  readonly createdAt: Instant;
  /** Whether its pending work may preempt other work. Default, here and below: the scheduler's row. */
  readonly preempts?: boolean;
  readonly preemptible?: Preemptible;
  /** Whether it uses idle nodes of vClusters that lend theirs. */
  readonly borrows?: boolean;
  /** An allocation is not preempted in this last part of its walltime. Default: five minutes. */
  readonly nearCompletion?: Duration;
  /** The most victims for one pending allocation. Default: 3. */
  readonly maxVictims?: number;
  /** Default: `null`, the vCluster lends nothing. */
  readonly lending?: Lending | null;
  /** Whether work that requests less than a node shares one. */
  readonly sharesNodes?: boolean;
}

const profile = (...w: readonly [number, number, number, number, number, number, number, number, number]): Weights => ({
  priority: w[0],
  wait_time: w[1],
  fair_share: w[2],
  topology: w[3],
  data_readiness: w[4],
  backlog: w[5],
  energy: w[6],
  checkpoint: w[7],
  conformance: w[8],
});

/** General-purpose weights, as a starting point for tuning. */
export const BALANCED_WEIGHTS: Weights = profile(200, 200, 200, 150, 100, 50, 0, 0, 100);

/** The weights of each scheduler. */
export const WEIGHT_PROFILES: Readonly<Record<SchedulerKind, Weights>> = {
  hpc_backfill: profile(150, 250, 150, 150, 100, 50, 0, 50, 100),
  ml_training: profile(100, 100, 100, 250, 150, 50, 50, 100, 100),
  service_bin_pack: profile(150, 50, 100, 50, 100, 50, 100, 100, 300),
  sensitive_reservation: profile(900, 0, 0, 0, 0, 0, 0, 0, 100),
  interactive_fifo: profile(100, 300, 100, 0, 50, 150, 0, 0, 300),
};
