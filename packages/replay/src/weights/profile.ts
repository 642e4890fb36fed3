// Weight profiles: the weights of the nine factors for each vCluster of a replay, and their defaults.

import {
  type Factor,
  type SchedulerKind,
  unchecked,
  type VCluster,
  type VClusterId,
  WEIGHT_PROFILES,
  type Weights,
} from "@lattice/core";
import { ORDERING_FACTORS } from "@lattice/scheduler";

export interface Profile {
  readonly vcluster: VClusterId;
  readonly scheduler: SchedulerKind;
  /** In thousandths; they sum to 1000 except for rounding. */
  readonly weights: Weights;
  readonly backfillDepth: number;
  /** Where it differs from the default of its scheduler kind. */
  readonly sharing?: Sharing;
}

/** Its relation to other vClusters. */
export type Sharing = Pick<VCluster, "preempts" | "preemptible" | "borrows" | "lending">;

export interface Profiles {
  /** At least one; the first is the default vCluster. */
  readonly profiles: readonly Profile[];
  readonly warnings: readonly string[];
}

export const FACTORS = [...ORDERING_FACTORS, "conformance"] as const satisfies readonly Factor[];

/** As on a live cluster without a setting. */
export const DEFAULT_DEPTH = 1;

export const DEFAULT_PROFILES: Profiles = {
  profiles: [
    {
      vcluster: unchecked.vcluster("replay"),
      scheduler: "hpc_backfill",
      weights: WEIGHT_PROFILES.hpc_backfill,
      backfillDepth: DEFAULT_DEPTH,
    },
  ],
  warnings: [],
};

export function inThousandths(weights: ReadonlyMap<Factor, number>, sum: number): Weights {
  const milli = (factor: Factor): number => Math.round(((weights.get(factor) ?? 0) / sum) * 1000);
  return Object.fromEntries(FACTORS.map((factor) => [factor, milli(factor)])) as Record<Factor, number>;
}
