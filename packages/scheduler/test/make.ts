// Builders for the tests: complete inputs from the few fields a case is about.

import {
  type AllocationId,
  attempt,
  type Constraints,
  type Duration,
  type GroupId,
  instant,
  logIndex,
  NO_CONSTRAINTS,
  type NodeId,
  type TenantId,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import {
  type CycleInput,
  cycle,
  type NodeInput,
  type PendingInput,
  type ReleaseInput,
  type Reservation,
  type TenantInput,
} from "../src/index.ts";

export const NOW = instant(1_000_000_000);
export const MINUTE = 60_000;

export const allocationId = (id: number | string): AllocationId => String(id) as AllocationId;
export const nodeIds = (...ids: string[]): NodeId[] => ids as NodeId[];

export function node(id: string, fields: Partial<NodeInput> & { readonly in?: string } = {}): NodeInput {
  const { in: group, ...rest } = fields;
  const free = rest.free ?? true;
  return {
    id: id as NodeId,
    group: (group ?? "g0") as GroupId,
    conformance: "",
    cpuCores: 8,
    memoryBytes: 1024,
    gpuType: "",
    gpuCount: 0,
    features: [],
    free,
    usable: true,
    notFreeBecause: free ? "" : "busy",
    ...rest,
  };
}

export const busy = (id: string, fields: Partial<NodeInput> & { readonly in?: string } = {}): NodeInput =>
  node(id, { ...fields, free: false });

export const nodesIn = (group: string, ...ids: string[]): NodeInput[] => ids.map((id) => node(id, { in: group }));

export interface JobFields {
  readonly nodes?: number;
  readonly max?: number;
  readonly minutes?: number | null;
  readonly class?: number;
  readonly tenant?: string;
  readonly waited?: number;
  readonly constraints?: Partial<Constraints>;
}

export function job(id: number | string, fields: JobFields = {}): PendingInput {
  const minNodes = fields.nodes ?? 1;
  const minutes = fields.minutes === undefined ? 10 : fields.minutes;
  return {
    id: allocationId(id),
    tenant: (fields.tenant ?? "physics") as TenantId,
    submittedAt: instant(NOW - (fields.waited ?? 0) * MINUTE),
    minNodes,
    maxNodes: fields.max ?? minNodes,
    constraints: { ...NO_CONSTRAINTS, ...fields.constraints },
    walltime: minutes === null ? null : ((minutes * MINUTE) as Duration),
    preemptionClass: fields.class ?? 5,
    nextAttempt: attempt(1),
  };
}

/** Nodes released this many minutes from now; never for `null`. */
export const release = (minutes: number | null, ...ids: string[]): ReleaseInput => ({
  allocation: allocationId(900),
  nodes: nodeIds(...ids),
  endsAt: minutes === null ? null : instant(NOW + minutes * MINUTE),
});

export const tenant = (id: string, fields: Partial<TenantInput> = {}): TenantInput => ({
  id: id as TenantId,
  nodesInUse: 0,
  running: 0,
  maxNodes: null,
  maxConcurrentAllocations: null,
  fairShareMilli: 500,
  ...fields,
});

export function input(fields: Partial<CycleInput> = {}): CycleInput {
  return {
    vcluster: "hpc-batch" as VClusterId,
    now: NOW,
    basis: logIndex(7),
    weights: WEIGHT_PROFILES.hpc_backfill,
    isFifo: false,
    backfillDepth: 1,
    nodes: [],
    pending: [],
    releases: [],
    tenants: [tenant("physics"), tenant("biology")],
    ...fields,
  };
}

/** Placements and reservations as text: `1@30: a b` is allocation 1, in half an hour, on a and b. */
export function outcomeOf(given: Partial<CycleInput>): { placed: string[]; held: string[] } {
  const { placements, reservations } = cycle(input(given));
  return {
    placed: placements.map(({ allocation, nodes }) => `${allocation}: ${nodes.join(" ")}`),
    held: reservations.map(
      ({ allocation, startsAt, nodes }) => `${allocation}@${(startsAt - NOW) / MINUTE}: ${nodes.join(" ")}`,
    ),
  };
}

export const promise = (id: number, minutes: number, ...nodes: string[]): Reservation => ({
  allocation: allocationId(id),
  startsAt: instant(NOW + minutes * MINUTE),
  nodes: nodeIds(...nodes),
});
