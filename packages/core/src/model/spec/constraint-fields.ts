// The name of each constraint in submissions, in the contract and in traces, and the kind of its value. Submissions are
// parsed, messages converted and traces written from this table, so that a new constraint does not compile before it has
// a row here.

import type { Constraints } from "./spec.ts";

/**
 * `least` and `most`: whole numbers, a minimum and a maximum. `gigabytes`: a number of GB for a minimum in bytes.
 * `memory_policy`: not in traces, since it does not affect scheduling.
 */
type ConstraintKind =
  | "text"
  | "least"
  | "most"
  | "gigabytes"
  | "list"
  | "nodes"
  | "flag"
  | "topology"
  | "memory_policy";

export const CONSTRAINT_FIELDS = {
  gpuType: { name: "gpu_type", kind: "text" },
  gpuCount: { name: "gpu_count", kind: "least" },
  memoryBytes: { name: "memory_gb", kind: "gigabytes" },
  cpuCores: { name: "cpu_cores", kind: "least" },
  features: { name: "features", kind: "list" },
  topology: { name: "topology", kind: "topology" },
  requiredNodes: { name: "required_nodes", kind: "nodes" },
  excludedNodes: { name: "excluded_nodes", kind: "nodes" },
  requireConformance: { name: "require_conformance", kind: "flag" },
  requireUnifiedMemory: { name: "require_unified_memory", kind: "flag" },
  preferSameNuma: { name: "prefer_same_numa", kind: "flag" },
  allowCxlMemory: { name: "allow_cxl_memory", kind: "flag" },
  maxGroups: { name: "max_groups", kind: "most" },
  storageMBps: { name: "storage_mb_per_second", kind: "least" },
  memoryPolicy: { name: "memory_policy", kind: "memory_policy" },
} as const satisfies Record<keyof Constraints, { readonly name: string; readonly kind: ConstraintKind }>;

export type ConstraintName = keyof typeof CONSTRAINT_FIELDS;

/** The constraints in the order of the table. */
export const CONSTRAINT_NAMES = Object.keys(CONSTRAINT_FIELDS) as readonly ConstraintName[];
