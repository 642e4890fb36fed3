// The lines of a JSON-lines trace that describe a tenant: its quotas and its share. An absent or null field is no limit.
//   {"type": "tenant", "tenant": {"name": "physics", "max_nodes": 32, "fair_share_target": 0.5}}
// Hard limits, budgets and burst allowances apply in a replay as they do on the cluster.

import { MAX_BURST_MILLI, MAX_QUOTA, type Quota, UNLIMITED } from "@lattice/core";
import type { Bad, TraceObject } from "./record.ts";

export interface TracedTenant {
  readonly name: string;
  /** `maxNodes` is in the unit of the sizes of the trace. */
  readonly quota: Quota;
}

export function parseTenant(value: TraceObject, bad: Bad): TracedTenant {
  const { name } = value;
  if (typeof name !== "string" || name === "") throw bad('the field "tenant.name" must name a tenant');
  const whole = (field: string): number | null => {
    const given = value[field] ?? null;
    if (given === null) return null;
    if (typeof given === "number" && Number.isInteger(given) && given >= 0 && given <= MAX_QUOTA) return given;
    throw bad(`the field "tenant.${field}" must be a whole number from 0`);
  };
  const thousandths = (field: string, most: number): number | null => {
    const given = value[field] ?? null;
    if (given === null) return null;
    if (typeof given === "number" && given >= 0 && given <= most) return Math.round(given * 1000);
    throw bad(`the field "tenant.${field}" must be a number from 0 to ${most}`);
  };
  return {
    name,
    quota: {
      ...UNLIMITED,
      maxNodes: whole("max_nodes"),
      maxConcurrentAllocations: whole("max_concurrent_allocations"),
      fairShareMilli: thousandths("fair_share_target", 1),
      gpuHoursBudget: whole("gpu_hours_budget"),
      nodeHoursBudget: whole("node_hours_budget"),
      burstAllowanceMilli: thousandths("burst_allowance", MAX_BURST_MILLI / 1000),
    },
  };
}
