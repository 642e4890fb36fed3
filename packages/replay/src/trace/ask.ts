// What a job of our own trace may ask for beyond nodes and time. The lattice policy hands it to the real
// scheduler; the classic policies know nothing of it.

import { ANYTHING, type Constraints, type NodeId, parseNodeId } from "@lattice/core";
import type { Bad, JsonObject } from "./record.ts";

export interface JobAsk {
  /** Null: the default one. */
  readonly vcluster: string | null;
  readonly constraints: Constraints;
  /** Where a range of nodes is asked for; null: exactly the job's size. */
  readonly maxNodes: number | null;
  /** Never stopped for others. */
  readonly noPreempt: boolean;
}

/** Null when it asks for nothing special. */
export function parseAsk(alloc: JsonObject, bad: Bad): JobAsk | null {
  const maxNodes = rangeOf(alloc.nodes);
  if (maxNodes === null && FIELDS.every((field) => alloc[field] === undefined)) return null;
  const read = fieldsOf(alloc, bad);
  const groups = read.amount("max_groups");
  const storage = read.amount("storage_mb_per_second");
  return {
    vcluster: alloc.vcluster === undefined ? null : read.text("vcluster"),
    constraints: {
      ...ANYTHING,
      gpuType: read.text("gpu_type"),
      gpuCount: Math.floor(read.amount("gpu_count")),
      memoryBytes: Math.round(read.amount("memory_gb") * 2 ** 30),
      cpuCores: Math.floor(read.amount("cpu_cores")),
      features: read.list("features"),
      topology: read.topology(),
      requiredNodes: read.nodes("required_nodes"),
      excludedNodes: read.nodes("excluded_nodes"),
      ...(read.flag("require_conformance") ? { requireConformance: true } : null),
      ...(read.flag("require_unified_memory") ? { requireUnifiedMemory: true } : null),
      ...(read.flag("prefer_same_numa") ? { preferSameNuma: true } : null),
      ...(read.flag("allow_cxl_memory") ? { allowCxlMemory: true } : null),
      ...(groups === 0 ? null : { maxGroups: Math.floor(groups) }),
      ...(storage === 0 ? null : { storageMBps: Math.floor(storage) }),
    },
    maxNodes,
    noPreempt: read.flag("no_preempt"),
  };
}

const FIELDS = [
  "vcluster",
  "gpu_type",
  "gpu_count",
  "memory_gb",
  "features",
  "topology",
  "cpu_cores",
  "required_nodes",
  "excluded_nodes",
  "require_conformance",
  "require_unified_memory",
  "prefer_same_numa",
  "allow_cxl_memory",
  "max_groups",
  "storage_mb_per_second",
  "no_preempt",
] as const;
type Field = (typeof FIELDS)[number];

/** The most of `{"min": 2, "max": 8}`; its shape was checked with the job's size. */
const rangeOf = (nodes: unknown): number | null =>
  typeof nodes === "object" && nodes !== null && "max" in nodes ? (nodes.max as number) : null;

/** Each by its kind; what is not there is nothing. */
function fieldsOf(alloc: JsonObject, bad: Bad) {
  const list = (field: Field): readonly string[] => {
    const value = alloc[field] ?? [];
    if (Array.isArray(value) && value.every((entry) => typeof entry === "string")) return value;
    throw bad(`the field "alloc.${field}" must be a list of texts`);
  };
  return {
    list,
    text(field: Field): string {
      const value = alloc[field] ?? "";
      if (typeof value === "string") return value;
      throw bad(`the field "alloc.${field}" must be a text`);
    },
    amount(field: Field): number {
      const value = alloc[field] ?? 0;
      if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
      throw bad(`the field "alloc.${field}" must be a number from 0`);
    },
    flag(field: Field): boolean {
      const value = alloc[field] ?? false;
      if (typeof value === "boolean") return value;
      throw bad(`the field "alloc.${field}" must be true or false`);
    },
    topology(): Constraints["topology"] {
      const value = alloc.topology ?? "any";
      if (value === "any" || value === "tight") return value;
      throw bad('the field "alloc.topology" must be "any" or "tight"');
    },
    nodes(field: Field): readonly NodeId[] {
      const value = alloc[field] ?? [];
      const ids = Array.isArray(value)
        ? value.map((entry) => (typeof entry === "string" ? parseNodeId(entry) : null))
        : [null];
      const good = ids.filter((id) => id !== null);
      if (good.length === ids.length) return good;
      throw bad(`the field "alloc.${field}" must be a list of nodes`);
    },
  };
}
