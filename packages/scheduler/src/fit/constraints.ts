// The meaning of each constraint to the scheduler. Whether two requests are interchangeable and whether they match the same
// nodes are derived from this one table, so that a new constraint or field does not compile before it has a row here.

import { CONSTRAINT_NAMES, type ConstraintName, type Constraints } from "@lattice/core";
import type { PendingInput } from "../input/cycle-input.ts";

/**
 * `match`: decides which nodes match, so it is part of the key of a match. `compared`: affects which of the matching nodes
 * are taken, or when. `ignored`: does not affect placement.
 */
const ROLES = {
  gpuType: "match",
  gpuCount: "match",
  memoryBytes: "match",
  cpuCores: "match",
  features: "match",
  requiredNodes: "match",
  excludedNodes: "match",
  requireUnifiedMemory: "match",
  allowCxlMemory: "match",
  topology: "compared",
  requireConformance: "compared",
  preferSameNuma: "compared",
  maxGroups: "compared",
  storageMBps: "compared",
  memoryPolicy: "ignored",
} as const satisfies Record<ConstraintName, "match" | "compared" | "ignored">;

const MATCH_FIELDS = CONSTRAINT_NAMES.filter((name) => ROLES[name] === "match");
const COMPARED_FIELDS = CONSTRAINT_NAMES.filter((name) => ROLES[name] === "compared");

/** Returns a key that is equal for constraints that match the same nodes. */
export function matchKey(constraints: Constraints): string {
  let key = "";
  for (const name of MATCH_FIELDS) {
    const value = constraints[name];
    // A list is written as JSON: its elements may contain the separator.
    if (Array.isArray(value)) key += value.length === 0 ? "|" : `${JSON.stringify(value)}|`;
    else key += `${value || ""}|`;
  }
  return key;
}

/** Whether two requests with the same match choose alike among its nodes. An absent value equals 0 and false. */
function isSameChoice(a: Constraints, b: Constraints): boolean {
  for (const name of COMPARED_FIELDS) if ((a[name] || 0) !== (b[name] || 0)) return false;
  return true;
}

/**
 * How the fields of a request enter the comparison. `derived`: through the match, the nodes needed or the occupancy of the
 * job. `owner`: who asks, which does not change the slot that is needed. `excluded`: such requests are never interchangeable.
 */
const REQUEST_ROLES = {
  id: "owner",
  tenant: "owner",
  submittedAt: "owner",
  preemptionClass: "owner",
  nextAttempt: "owner",
  checkpoint: "owner",
  minNodes: "derived",
  walltime: "derived",
  borrowsFrom: "derived",
  constraints: "derived",
  maxNodes: "compared",
  canShareNode: "excluded",
} as const satisfies Record<keyof PendingInput, "owner" | "derived" | "compared" | "excluded">;

const REQUEST_FIELDS = Object.keys(REQUEST_ROLES) as readonly (keyof PendingInput)[];
const COMPARED_REQUEST_FIELDS = REQUEST_FIELDS.filter((field) => REQUEST_ROLES[field] === "compared");
const EXCLUDED_REQUEST_FIELDS = REQUEST_FIELDS.filter((field) => REQUEST_ROLES[field] === "excluded");

/** Whether the fields that no job derives anything from agree, and none rules the comparison out. */
export function isSameRequest(a: PendingInput, b: PendingInput): boolean {
  for (const field of EXCLUDED_REQUEST_FIELDS) if (a[field] === true || b[field] === true) return false;
  for (const field of COMPARED_REQUEST_FIELDS) if (a[field] !== b[field]) return false;
  return isSameChoice(a.constraints, b.constraints);
}
