// The lines of a JSON-lines trace that describe the captured cluster: nodes, and vClusters with their weights. An
// inventory or weights on the command line replace them.
//   {"type": "node", "node": {"id": "n1", "group": "g1", "gpu_type": "GH200", "gpu_count": 4}}
//   {"type": "vcluster", "vcluster": {"name": "hpc", "scheduler": "hpc_backfill", "backfill_depth": 10}}

import {
  DEFAULT_LENDING,
  type Duration,
  duration,
  type Factor,
  type GpuTopology,
  type Lending,
  type MemoryTopology,
  parseNodeId,
  parseVClusterId,
  type SchedulerKind,
  unchecked,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { BARE, type InventoryNode, type NodeTopology } from "../inventory/inventory.ts";
import { DEFAULT_DEPTH, FACTORS, inThousandths, type Profile, type Sharing } from "../weights/profile.ts";
import { type Bad, isObject, type TraceObject } from "./record.ts";
import { parseDuration } from "./time-text.ts";

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

// The relation of a captured vCluster to others: whether it preempts or is preempted, and what it lends and borrows.
//   {"preempts": true, "preemptible": "borrowed", "borrows": true,
//    "lending": {"keep_nodes": 2, "max_class": 4, "max_duration": "12h", "return_grace": "30s"}}

const PREEMPTIBLE = ["always", "borrowed", "never"] as const;

function parseSharing(vcluster: TraceObject, bad: Bad): Pick<Profile, "sharing"> {
  const { preempts, preemptible, borrows, lending } = vcluster;
  for (const [field, value] of Object.entries({ preempts, borrows })) {
    if (value !== undefined && typeof value !== "boolean")
      throw bad(`the field "vcluster.${field}" must be true or false`);
  }
  const by = PREEMPTIBLE.find((known) => known === preemptible);
  if (preemptible !== undefined && by === undefined) {
    throw bad(`the field "vcluster.preemptible" must be one of ${PREEMPTIBLE.join(", ")}`);
  }
  const sharing: Sharing = {
    ...(typeof preempts === "boolean" ? { preempts } : null),
    ...(typeof borrows === "boolean" ? { borrows } : null),
    ...(by === undefined ? null : { preemptible: by }),
    ...(lending === undefined ? null : { lending: parseLending(lending, bad) }),
  };
  return Object.keys(sharing).length === 0 ? {} : { sharing };
}

function parseLending(value: unknown, bad: Bad): Lending | null {
  if (value === null) return null;
  if (!isObject(value)) throw bad('the field "vcluster.lending" must be an object');
  const { keep_nodes, max_class, max_duration, return_grace } = value;
  const count = (name: string, given: unknown, otherwise: number): number => {
    if (given === undefined) return otherwise;
    if (typeof given === "number" && Number.isInteger(given) && given >= 0) return given;
    throw bad(`the field "vcluster.lending.${name}" must be a whole number`);
  };
  const time = (name: string, given: unknown): Duration => {
    const length = parseDuration(given);
    if (length === null || length < 0)
      throw bad(`the field "vcluster.lending.${name}" must be a duration such as "12h"`);
    return duration(Math.round(length * 1000));
  };
  return {
    keepNodes: count("keep_nodes", keep_nodes, DEFAULT_LENDING.keepNodes),
    maxClass: count("max_class", max_class, DEFAULT_LENDING.maxClass),
    maxDuration: max_duration === undefined || max_duration === null ? null : time("max_duration", max_duration),
    returnGrace: return_grace === undefined ? DEFAULT_LENDING.returnGrace : time("return_grace", return_grace),
  };
}

function parseTopology(node: TraceObject, bad: Bad): Pick<InventoryNode, "topology"> {
  const amount = (field: string): number => {
    const given = node[field] ?? 0;
    if (typeof given === "number" && Number.isFinite(given) && given >= 0) return given;
    throw bad(`the field "node.${field}" must be a number from 0`);
  };
  const [cxl, watts] = [Math.round(amount("cxl_memory_gb") * 2 ** 30), Math.round(amount("power_watts"))];
  const { gpu_topology: gpus, memory_topology: memory } = node;
  const topology: NodeTopology = {
    ...(cxl === 0 ? null : { cxlMemoryBytes: cxl }),
    ...(watts === 0 ? null : { powerWatts: watts }),
    ...(gpus === undefined ? null : { gpuTopology: gpuTopology(gpus, bad) }),
    ...(memory === undefined ? null : { memoryTopology: memoryTopology(memory, bad) }),
  };
  return Object.keys(topology).length === 0 ? {} : { topology };
}

function gpuTopology(value: unknown, bad: Bad): GpuTopology {
  const good =
    isObject(value) &&
    listOf(value.gpus, (gpu) => isWhole(gpu.index) && isWhole(gpu.memoryBytes) && isText(gpu.model)) &&
    listOf(value.links, (link) => isWhole(link.a) && isWhole(link.b) && isWhole(link.bandwidthMBps)) &&
    isObject(value.nicAffinity) &&
    Object.values(value.nicAffinity).every(isText);
  if (!good) throw bad('the field "node.gpu_topology" has no lists of gpus and links, or no nicAffinity');
  return value as unknown as GpuTopology;
}

function memoryTopology(value: unknown, bad: Bad): MemoryTopology {
  const good =
    isObject(value) &&
    listOf(value.domains, (domain) => {
      const { id, kind, capacityBytes, cpus, gpus } = domain;
      return isWhole(id) && isText(kind) && isWhole(capacityBytes) && wholes(cpus) && wholes(gpus);
    }) &&
    listOf(value.interconnects, (link) => isWhole(link.a) && isWhole(link.b) && isWhole(link.bandwidthMBps));
  if (!good) throw bad('the field "node.memory_topology" has no lists of domains and interconnects');
  return value as unknown as MemoryTopology;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isWhole = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const wholes = (value: unknown): boolean => Array.isArray(value) && value.every(isWhole);
const listOf = (value: unknown, isGood: (entry: TraceObject) => boolean): boolean =>
  Array.isArray(value) && value.every((entry) => isObject(entry) && isGood(entry));
