// The lines of a JSON-lines trace that describe the captured cluster: nodes, and vClusters with their weights. An
// inventory or weights on the command line replace them.
//   {"type": "node", "node": {"id": "n1", "group": "g1", "gpu_type": "GH200", "gpu_count": 4}}
//   {"type": "vcluster", "vcluster": {"name": "hpc", "scheduler": "hpc_backfill", "backfill_depth": 10}}

import {
  type Factor,
  parseNodeId,
  parseVClusterId,
  type SchedulerKind,
  unchecked,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { BARE, type InventoryNode } from "../inventory/inventory.ts";
import { DEFAULT_DEPTH, FACTORS, inThousandths, type Profile } from "../weights/profile.ts";
import type { Bad, TraceObject } from "./record.ts";
import { parseSharing } from "./sharing.ts";
import { parseTopology } from "./topology.ts";

export function parseNode(value: TraceObject, bad: Bad): InventoryNode {
  const id = typeof value.id === "string" ? parseNodeId(value.id) : null;
  if (id === null) throw bad('the field "node.id" must name a node');
  const amount = (field: string, otherwise: number): number => {
    const given = value[field] ?? otherwise;
    if (typeof given === "number" && Number.isFinite(given) && given >= 0) return given;
    throw bad(`the field "node.${field}" must be a number from 0`);
  };
  const text = (field: string, otherwise: string): string => {
    const given = value[field] ?? otherwise;
    if (typeof given === "string") return given;
    throw bad(`the field "node.${field}" must be a text`);
  };
  const home = text("vcluster", "");
  const features = value.features ?? [];
  if (!Array.isArray(features)) throw bad('the field "node.features" must be a list');
  return {
    ...BARE,
    id,
    group: unchecked.group(text("group", "g1")),
    conformance: text("conformance", ""),
    cpuCores: Math.floor(amount("cpu_cores", 1)),
    memoryBytes: Math.round(amount("memory_gb", 0) * 2 ** 30),
    gpuType: text("gpu_type", ""),
    gpuCount: Math.floor(amount("gpu_count", 0)),
    features: features.map(String),
    homeVCluster: home === "" ? null : parseVClusterId(home),
    ...parseTopology(value, bad),
  };
}

export function parseVCluster(value: TraceObject, bad: Bad): Profile {
  const vcluster = typeof value.name === "string" ? parseVClusterId(value.name) : null;
  if (vcluster === null) throw bad('the field "vcluster.name" must name a vCluster');
  const scheduler = value.scheduler ?? "hpc_backfill";
  if (typeof scheduler !== "string" || !(scheduler in WEIGHT_PROFILES)) {
    throw bad(`the field "vcluster.scheduler" must be one of ${Object.keys(WEIGHT_PROFILES).join(", ")}`);
  }
  const depth = value.backfill_depth ?? DEFAULT_DEPTH;
  if (typeof depth !== "number" || !Number.isInteger(depth) || depth < 0) {
    throw bad('the field "vcluster.backfill_depth" must be a whole number');
  }
  const kind = scheduler as SchedulerKind;
  const weights = value.weights === undefined ? WEIGHT_PROFILES[kind] : parseWeights(value.weights as TraceObject, bad);
  return { vcluster, scheduler: kind, weights, backfillDepth: depth, ...parseSharing(value, bad) };
}

function parseWeights(value: TraceObject, bad: Bad) {
  const weights = new Map<Factor, number>();
  let sum = 0;
  for (const [name, weight] of Object.entries(value)) {
    const factor = FACTORS.find((known) => known === name);
    const good = typeof weight === "number" && Number.isFinite(weight) && weight >= 0;
    if (factor === undefined || !good) throw bad(`the field "vcluster.weights.${name}" is no weight from 0`);
    weights.set(factor, weight);
    sum += weight;
  }
  if (sum <= 0) throw bad('the field "vcluster.weights" has no weight above zero');
  return inThousandths(weights, sum);
}
