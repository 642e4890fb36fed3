// Converts tenants and quotas in both directions.

import { create } from "@bufbuild/protobuf";
import type { Ceiling, Quota, Tenant } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/admin_pb.ts";
import { QuotaSchema, TenantCeilingSchema, TenantSchema } from "../../gen/lattice/v1/admin_pb.ts";
import { FieldList } from "../errors/field-list.ts";
import { timestampFromMs } from "../json/timestamp.ts";
import { nearest } from "../text/nearest.ts";
import { fractionToMilli, milliToFraction } from "./amounts.ts";

/** Larger shares and allowances are mistakes. */
const MAX_FRACTION = 1000;

interface TenantCounts {
  readonly nodes: number;
  readonly running: number;
}

export const tenantToProto = (tenant: Tenant, usage: TenantCounts = { nodes: 0, running: 0 }): proto.Tenant =>
  create(TenantSchema, {
    id: tenant.id,
    description: tenant.description,
    quota: quotaToProto(tenant.quota),
    maxPreemptionClass: tenant.maxPreemptionClass,
    createdAt: timestampFromMs(tenant.createdAt),
    automatic: tenant.automatic,
    nodesInUse: usage.nodes,
    runningAllocations: usage.running,
    ...(tenant.ceiling === undefined ? {} : { ceiling: ceilingToProto(tenant.ceiling) }),
  });

const ceilingToProto = ({ quota, maxPreemptionClass }: Ceiling): proto.TenantCeiling =>
  create(TenantCeilingSchema, { quota: quotaToProto(quota), maxPreemptionClass });

export function quotaToProto(quota: Quota): proto.Quota {
  const message = create(QuotaSchema);
  if (quota.maxNodes !== null) message.maxNodes = quota.maxNodes;
  if (quota.maxConcurrentAllocations !== null) message.maxConcurrentAllocations = quota.maxConcurrentAllocations;
  if (quota.fairShareMilli !== null) message.fairShareTarget = milliToFraction(quota.fairShareMilli);
  if (quota.gpuHoursBudget !== null) message.gpuHoursBudget = quota.gpuHoursBudget;
  if (quota.nodeHoursBudget !== null) message.nodeHoursBudget = quota.nodeHoursBudget;
  if (quota.burstAllowanceMilli !== null) message.burstAllowance = milliToFraction(quota.burstAllowanceMilli);
  const { maxNetworkDomains = null } = quota;
  if (maxNetworkDomains !== null) message.maxNetworkDomains = maxNetworkDomains;
  return message;
}

type QuotaChange = { -readonly [K in keyof Quota]?: Quota[K] };

/**
 * Only the limits that are named; `unset` names limits to remove. Put UNLIMITED before it for a new
 * tenant. Throws a ProblemError that names every field.
 */
export function quotaFromProto(quota: proto.Quota | undefined, unset: readonly string[] = []): Partial<Quota> {
  const problems = new FieldList();
  const change: QuotaChange = {};
  if (quota?.maxNodes !== undefined) change.maxNodes = quota.maxNodes;
  if (quota?.maxConcurrentAllocations !== undefined) change.maxConcurrentAllocations = quota.maxConcurrentAllocations;
  if (quota?.fairShareTarget !== undefined) {
    change.fairShareMilli = milliOf(quota.fairShareTarget, "quota.fair_share_target", problems);
  }
  if (quota?.gpuHoursBudget !== undefined) {
    change.gpuHoursBudget = hoursOf(quota.gpuHoursBudget, "quota.gpu_hours_budget", problems);
  }
  if (quota?.nodeHoursBudget !== undefined) {
    change.nodeHoursBudget = hoursOf(quota.nodeHoursBudget, "quota.node_hours_budget", problems);
  }
  if (quota?.burstAllowance !== undefined) {
    change.burstAllowanceMilli = milliOf(quota.burstAllowance, "quota.burst_allowance", problems);
  }
  if (quota?.maxNetworkDomains !== undefined) change.maxNetworkDomains = quota.maxNetworkDomains;
  unset.forEach((name, i) => {
    removeLimit(change, { name, path: `unset[${i}]`, problems });
  });
  problems.throwIfAny();
  return change;
}

const LIMITS: ReadonlyMap<string, keyof Quota> = new Map([
  ["max_nodes", "maxNodes"],
  ["max_concurrent_allocations", "maxConcurrentAllocations"],
  ["fair_share_target", "fairShareMilli"],
  ["gpu_hours_budget", "gpuHoursBudget"],
  ["node_hours_budget", "nodeHoursBudget"],
  ["burst_allowance", "burstAllowanceMilli"],
  ["max_network_domains", "maxNetworkDomains"],
]);

function removeLimit(change: QuotaChange, limit: { name: string; path: string; problems: FieldList }): void {
  const { name, path, problems } = limit;
  const key = LIMITS.get(name);
  if (key === undefined) {
    const close = nearest(name, LIMITS.keys());
    problems.add(path, "is not the name of a limit", close === null ? undefined : `Did you mean "${close}"?`);
  } else if (change[key] !== undefined) problems.add(path, `${name} is both set and removed`);
  else change[key] = null;
}

function milliOf(fraction: number, field: string, problems: FieldList): number {
  if (fraction >= 0 && fraction <= MAX_FRACTION) return fractionToMilli(fraction);
  problems.add(field, `must be a number between 0 and ${MAX_FRACTION}, not ${fraction}`);
  return 0;
}

/** Whole hours: replicated state holds no floats. */
function hoursOf(hours: number, field: string, problems: FieldList): number {
  if (Number.isSafeInteger(hours) && hours >= 0) return hours;
  problems.add(field, `must be a whole number of hours, 0 or more, not ${hours}`);
  return 0;
}
