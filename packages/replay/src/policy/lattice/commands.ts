// The commands that set up a replayed cluster and submit a trace's jobs: nodes as the inventory says, a
// vCluster per weight profile, the tenants of the trace with their quotas.

import {
  ANYTHING,
  type Command,
  duration,
  MAX_PREEMPTION_CLASS,
  type Origin,
  parseTenantId,
  plainSpec,
  present,
  seconds,
  type TenantId,
  type UserName,
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
    // Nobody asks a replay for its finished records, and keeping them would only cost memory.
    { kind: "retention.set", maxFinished: 0, maxFinishedAge: duration(0) },
  ];
}

/** By their names where those can name a tenant, else by a number. */
export const tenantsOf = ({ tenants }: Pick<Trace, "tenants">): readonly TenantId[] =>
  tenants.map((name, i) => parseTenantId(`tenant-${name}`) ?? (`unnamed.${i + 1}` as TenantId));

/** Those that the trace lists; the others are made by their first submission, as on a cluster. */
export function tenantCommands(trace: Pick<Trace, "tenants" | "limits">, unit: number): Command[] {
  const ids = tenantsOf(trace);
  return trace.limits.map(({ name, quota }) => ({
    kind: "tenant.create",
    origin: originOf("replay"),
    tenant: present(ids[trace.tenants.indexOf(name)], "a tenant with limits is a tenant"),
    description: "",
    quota: { ...quota, maxNodes: quota.maxNodes === null ? null : Math.floor(quota.maxNodes / unit) },
    // Whatever class was asked for had been granted.
    maxPreemptionClass: MAX_PREEMPTION_CLASS,
  }));
}

export interface Submission {
  readonly row: number;
  readonly tenant: TenantId;
  readonly nodes: number;
  readonly vcluster: VClusterId;
}

export function submitCommand(trace: Trace, { row, tenant, nodes, vcluster }: Submission): Command {
  const request = trace.request[row] as number;
  const ask = trace.asks?.[row] ?? null;
  return {
    kind: "allocation.submit",
    origin: originOf(userOf(trace, row)),
    createTenant: true,
    spec: plainSpec({
      tenant,
      vcluster,
      name: `trace-${idOf(trace, row)}`.slice(0, 64),
      task: { kind: "command", words: ["replay"] },
      resources: {
        minNodes: nodes,
        maxNodes: Math.max(nodes, ask?.maxNodes ?? 0),
        constraints: ask?.constraints ?? ANYTHING,
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

const originOf = (user: string): Origin => ({ user: user as UserName, requestId: null, bodyHash: "" });

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
  const { cpuCores, memoryBytes, gpuType, gpuCount, features, beyond } = node;
  const unknown = { hostname: node.id, kernel: "", isolation: "", hollow: true };
  return {
    kind: "node.register",
    node: node.id,
    capabilities: { cpuCores, memoryBytes, gpuType, gpuCount, features, ...unknown, ...beyond },
    group: node.group,
    conformance: node.conformance,
    homeVCluster: node.homeVCluster,
    address: "",
    agentVersion: "",
    bootId: "",
  };
}
