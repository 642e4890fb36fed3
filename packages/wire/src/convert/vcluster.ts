// Converts vClusters and weights in both directions.

import { create } from "@bufbuild/protobuf";
import type { Factor, VCluster, Weights } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/admin_pb.ts";
import { VClusterSchema, WeightsSchema } from "../../gen/lattice/v1/admin_pb.ts";
import { FieldList } from "../errors/field-list.ts";
import { timestampFromMs } from "../json/timestamp.ts";
import { fractionToMilli, milliToFraction } from "./amounts.ts";
import { sharingToProto } from "./sharing.ts";
import { schedulerToProto } from "./states.ts";

/** Only ratios matter, so more digits are pointless. */
const MAX_WEIGHT = 1000;

type WeightField = Exclude<keyof proto.Weights, "$typeName" | "$unknown">;

const FIELDS: readonly (readonly [Factor, WeightField])[] = [
  ["priority", "priority"],
  ["wait_time", "waitTime"],
  ["fair_share", "fairShare"],
  ["topology", "topology"],
  ["data_readiness", "dataReadiness"],
  ["backlog", "backlog"],
  ["energy", "energy"],
  ["checkpoint", "checkpoint"],
  ["conformance", "conformance"],
];

interface VClusterCounts {
  readonly pending: number;
  readonly running: number;
}

export const vclusterToProto = (
  vcluster: VCluster,
  counts: VClusterCounts = { pending: 0, running: 0 },
): proto.VCluster =>
  create(VClusterSchema, {
    id: vcluster.id,
    description: vcluster.description,
    tenant: vcluster.tenant ?? "",
    scheduler: schedulerToProto(vcluster.scheduler),
    weights: weightsToProto(vcluster.weights),
    cycleIntervalSeconds: Math.ceil(vcluster.cycleInterval / 1000),
    backfillDepth: vcluster.backfillDepth,
    defaultWalltimeSeconds: Math.ceil(vcluster.defaultWalltime / 1000),
    maxWalltimeSeconds: Math.ceil((vcluster.maxWalltime ?? 0) / 1000),
    isDefault: vcluster.isDefault,
    createdAt: timestampFromMs(vcluster.createdAt),
    pending: counts.pending,
    running: counts.running,
    ...sharingToProto(vcluster),
  });

export function weightsToProto(weights: Weights): proto.Weights {
  const message = create(WeightsSchema);
  for (const [factor, field] of FIELDS) message[field] = milliToFraction(weights[factor]);
  return message;
}

/** Returns only the named weights. Throws a ProblemError that names every field. */
export function weightsFromProto(weights: proto.Weights | undefined): Partial<Weights> {
  const problems = new FieldList();
  const change: Partial<Record<Factor, number>> = {};
  for (const [factor, field] of FIELDS) {
    const value = weights?.[field];
    if (value === undefined) continue;
    if (value >= 0 && value <= MAX_WEIGHT) change[factor] = fractionToMilli(value);
    else problems.add(`weights.${factor}`, `must be a number between 0 and ${MAX_WEIGHT}, not ${value}`);
  }
  problems.throwIfAny();
  return change;
}
