// The name of each constraint in submissions and traces, and the kind of its value. Traces are written and read from this
// table, so that a new constraint does not compile before it has a row here.

import type { Constraints } from "./spec.ts";

/** `gigabytes`: a number of GB for an amount in bytes. `null`: not in traces, since it does not affect scheduling. */
type ConstraintKind = "text" | "count" | "gigabytes" | "list" | "nodes" | "flag" | "topology" | null;

export const CONSTRAINT_FIELDS = {
  gpuType: { name: "gpu_type", kind: "text" },
  gpuCount: { name: "gpu_count", kind: "count" },
  memoryBytes: { name: "memory_gb", kind: "gigabytes" },
  cpuCores: { name: "cpu_cores", kind: "count" },
  features: { name: "features", kind: "list" },
  topology: { name: "topology", kind: "topology" },
  requiredNodes: { name: "required_nodes", kind: "nodes" },
  excludedNodes: { name: "excluded_nodes", kind: "nodes" },
  requireConformance: { name: "require_conformance", kind: "flag" },
  requireUnifiedMemory: { name: "require_unified_memory", kind: "flag" },
  preferSameNuma: { name: "prefer_same_numa", kind: "flag" },
  allowCxlMemory: { name: "allow_cxl_memory", kind: "flag" },
  maxGroups: { name: "max_groups", kind: "count" },
  storageMBps: { name: "storage_mb_per_second", kind: "count" },
  memoryPolicy: { name: "memory_policy", kind: null },
} as const satisfies Record<keyof Constraints, { readonly name: string; readonly kind: ConstraintKind }>;

export type ConstraintName = keyof typeof CONSTRAINT_FIELDS;

/** The constraints in the order of the table. */
export const CONSTRAINT_NAMES = Object.keys(CONSTRAINT_FIELDS) as readonly ConstraintName[];
