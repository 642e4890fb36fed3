// One trial: the trace replayed with a candidate's weights in the default vCluster.

import { latticeOn } from "../policy/lattice/lattice.ts";
import type { LatticeSetup } from "../policy/lattice/setup.ts";
import { type Summary, summarise } from "../result/summary.ts";
import type { Trace } from "../trace/trace.ts";
import type { WeightCandidate } from "./candidate.ts";

export interface TrialInput {
  readonly trace: Trace;
  readonly setup: LatticeSetup;
}

export function tryCandidate({ trace, setup }: TrialInput, candidate: WeightCandidate): Summary {
  const { name, weights, backfillDepth } = candidate;
  const [first, ...others] = setup.profiles;
  if (first === undefined) throw new Error("there is no vCluster");
  const policy = latticeOn({ ...setup, profiles: [{ ...first, weights, backfillDepth }, ...others] });
  return summarise(
    { name, policy: "lattice", perfect: false, gpus: 0 },
    trace,
    policy(trace, () => {}),
  );
}
