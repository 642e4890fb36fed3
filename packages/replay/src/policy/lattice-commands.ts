// The commands that set up a replayed cluster and submit a trace's jobs: equal nodes in one group, one
// vCluster with the weights of HPC batch, a tenant per user of the trace.

import {
  type Command,
  duration,
  type GroupId,
  type NodeId,
  type Origin,
  parseTenantId,
  seconds,
  type TenantId,
  type UserName,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import type { Trace, TraceJob } from "../trace/trace.ts";

export const REPLAY_VCLUSTER = "replay" as VClusterId;

export function machineCommands({ nodes }: Trace): Command[] {
  const digits = String(nodes).length;
  const registrations = Array.from({ length: nodes }, (_, i) => register(`n${String(i + 1).padStart(digits, "0")}`));
  return [createVCluster(), ...registrations];
}

/** A tenant per user, by the user's name where it can name a tenant, else by a number. */
export function tenantsOf({ jobs }: Trace): ReadonlyMap<string, TenantId> {
  const tenants = new Map<string, TenantId>();
  for (const { user } of jobs) {
    if (tenants.has(user)) continue;
    tenants.set(user, parseTenantId(`user-${user}`) ?? (`unnamed.${tenants.size + 1}` as TenantId));
  }
  return tenants;
}

export function submitCommand(job: TraceJob, tenant: TenantId): Command {
  return {
    kind: "allocation.submit",
    origin: originOf(tenant),
    createTenant: true,
    spec: {
      tenant,
      project: "",
      vcluster: REPLAY_VCLUSTER,
      name: `trace-${job.id}`.slice(0, 64),
      tags: {},
      intent: "",
      task: { kind: "command", words: ["replay"] },
      environment: { variables: {}, workdir: "" },
      resources: { minNodes: job.nodes, maxNodes: job.nodes, tasksPerNode: 1, constraints: ANYTHING },
      lifecycle: {
        kind: "bounded",
        walltime: duration(Math.max(1, Math.round(job.request * 1000))),
        preemptionClass: job.priority,
        requeuePolicy: "never",
        maxRequeue: 0,
      },
      slurmEnv: false,
    },
  };
}

const ANYTHING = {
  gpuType: "",
  gpuCount: 0,
  memoryBytes: 0,
  cpuCores: 0,
  features: [],
  topology: "any",
  requiredNodes: [],
  excludedNodes: [],
} as const;

const originOf = (user: string): Origin => ({ user: user as UserName, requestId: null, bodyHash: "" });

function createVCluster(): Command {
  return {
    kind: "vcluster.create",
    origin: originOf("replay"),
    vcluster: REPLAY_VCLUSTER,
    description: "",
    tenant: null,
    scheduler: "hpc_backfill",
    weights: WEIGHT_PROFILES.hpc_backfill,
    cycleInterval: seconds(5),
    backfillDepth: 1,
    defaultWalltime: seconds(3600),
    maxWalltime: null,
    isDefault: true,
  };
}

function register(node: string): Command {
  return {
    kind: "node.register",
    node: node as NodeId,
    capabilities: {
      cpuCores: 1,
      memoryBytes: 0,
      gpuType: "",
      gpuCount: 0,
      features: [],
      hostname: node,
      kernel: "",
      isolation: "",
      hollow: true,
    },
    group: "g1" as GroupId,
    conformance: "",
    homeVCluster: null,
    address: "",
    agentVersion: "",
    bootId: "",
  };
}
