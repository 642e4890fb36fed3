// The commands that set up a replayed cluster and submit the jobs of a trace: nodes of the inventory, a vCluster per
// weight profile, tenants with their quotas.

import {
  type Command,
  duration,
  MAX_PREEMPTION_CLASS,
  minimalSpec,
  NO_CONSTRAINTS,
  type Origin,
  parseTenantId,
  present,
  seconds,
  type TenantId,
  unchecked,
  type VClusterId,
} from "@lattice/core";
import type { InventoryNode } from "../../inventory/inventory.ts";
import { idOf, type Trace, userOf } from "../../trace/trace.ts";
import type { Profile } from "../../weights/profile.ts";
import type { LatticeSetup } from "./setup.ts";

export function machineCommands({ inventory, profiles }: LatticeSetup): Command[] {
  return [
    ...profiles.map((profile, i) => createVCluster(profile, i === 0)),
    ...inventory.nodes.map(register),
    // A replay does not read finished records, and keeping them would cost memory.
    { kind: "retention.set", maxFinished: 0, maxFinishedAge: duration(0) },
  ];
}

/** Returns the names where they are valid tenant names, else numbers. */
export const tenantsOf = ({ tenants }: Pick<Trace, "tenants">): readonly TenantId[] =>
  tenants.map((name, i) => parseTenantId(`tenant-${name}`) ?? unchecked.tenant(`unnamed.${i + 1}`));

/** Tenants of the trace; others are created by their first submission, as on a cluster. */
export function tenantCommands(trace: Pick<Trace, "tenants" | "limits">, unit: number): Command[] {
  const ids = tenantsOf(trace);
  return trace.limits.map(({ name, quota }) => ({
    kind: "tenant.create",
    origin: originOf("replay"),
    tenant: present(ids[trace.tenants.indexOf(name)], "a tenant with limits is a tenant"),
    description: "",
    quota: { ...quota, maxNodes: quota.maxNodes === null ? null : Math.floor(quota.maxNodes / unit) },
    // Every class in the trace had been granted.
    maxPreemptionClass: MAX_PREEMPTION_CLASS,
  }));
}

interface Submission {
  readonly row: number;
  readonly tenant: TenantId;
  readonly nodes: number;
  readonly vcluster: VClusterId;
}

export function submitCommand(trace: Trace, { row, tenant, nodes, vcluster }: Submission): Command {
  const request = trace.request[row] as number;
  const ask = trace.requests?.[row] ?? null;
  return {
    kind: "allocation.submit",
    origin: originOf(userOf(trace, row)),
    createTenant: true,
    spec: minimalSpec({
      tenant,
      vcluster,
      name: `trace-${idOf(trace, row)}`.slice(0, 64),
      task: { kind: "command", words: ["replay"] },
      resources: {
        minNodes: nodes,
        maxNodes: Math.max(nodes, ask?.maxNodes ?? 0),
        constraints: ask?.constraints ?? NO_CONSTRAINTS,
      },
      lifecycle: {
        walltime: duration(Math.max(1, Math.round(request * 1000))),
        preemptionClass: trace.priority[row] as number,
        requeuePolicy: "always",
        maxRequeue: 100,
        ...(ask?.noPreempt === true ? { noPreempt: true } : null),
      },
    }),
  };
}

const originOf = (user: string): Origin => ({ user: unchecked.user(user), requestId: null, bodyHash: "" });

function createVCluster(
  { vcluster, scheduler, weights, backfillDepth, sharing }: Profile,
  isDefault: boolean,
): Command {
  return {
    kind: "vcluster.create",
    origin: originOf("replay"),
    vcluster,
    description: "",
    tenant: null,
    scheduler,
    weights,
    cycleInterval: seconds(5),
    backfillDepth,
    defaultWalltime: seconds(3600),
    maxWalltime: null,
    isDefault,
    ...sharing,
  };
}

function register(node: InventoryNode): Command {
  const { cpuCores, memoryBytes, gpuType, gpuCount, features, topology } = node;
  const unknown = { hostname: node.id, kernel: "", isolation: "", hollow: true };
  return {
    kind: "node.register",
    node: node.id,
    capabilities: { cpuCores, memoryBytes, gpuType, gpuCount, features, ...unknown, ...topology },
    group: node.group,
    conformance: node.conformance,
    homeVCluster: node.homeVCluster,
    address: "",
    agentVersion: "",
    bootId: "",
  };
}
