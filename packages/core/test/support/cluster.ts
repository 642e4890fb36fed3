// A state with a log in front of it, and short ways to say commands. Every entry that goes
// through here is followed by a look at all invariants.

import { createHash } from "node:crypto";
import {
  type AllocationId,
  type AllocationSpec,
  type Applied,
  type Attempt,
  applyEntry,
  attempt,
  type CheckpointSpec,
  type Command,
  createState,
  type DagId,
  duration,
  type Entry,
  entryVersion,
  type FailureReason,
  type GrantRole,
  type GroupId,
  instant,
  logIndex,
  minimalSpec,
  NO_CONSTRAINTS,
  type NodeId,
  type Origin,
  type Outcome,
  type Quota,
  type ReportCommand,
  type State,
  type TenantId,
  term,
  UNLIMITED,
  type UserName,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { expect } from "vitest";
import { brokenInvariants } from "../invariants/broken-invariants.ts";
import { edge } from "./edge.ts";
import { CHECKPOINT } from "./policies.ts";

export { scalePolicy } from "./policies.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export const id = (n: number | string): AllocationId => String(n) as AllocationId;
export const nodeId = (name: string): NodeId => name as NodeId;
export const tenantId = (name: string): TenantId => name as TenantId;
export const vclusterId = (name: string): VClusterId => name as VClusterId;

export const origin = (requestId: string | null = null, bodyHash = "h"): Origin => ({
  user: "ada" as UserName,
  requestId,
  bodyHash,
});

export interface SpecChange {
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly nodes?: number | readonly [number, number];
  readonly resources?: Partial<AllocationSpec["resources"]["constraints"]>;
  readonly lifecycle?: Partial<AllocationSpec["lifecycle"]>;
  readonly domain?: string;
  readonly checkpoint?: Partial<CheckpointSpec>;
  /** Dependencies, as "12:success". */
  readonly after?: readonly string[];
}

export function spec(change: SpecChange = {}): AllocationSpec {
  const nodes = change.nodes ?? 1;
  const [minNodes, maxNodes] = typeof nodes === "number" ? [nodes, nodes] : nodes;
  return minimalSpec({
    tenant: tenantId(change.tenant ?? "physics"),
    vcluster: vclusterId(change.vcluster ?? "batch"),
    name: "job",
    resources: { minNodes, maxNodes, constraints: { ...NO_CONSTRAINTS, ...change.resources } },
    lifecycle: {
      walltime: duration(3_600_000),
      requeuePolicy: "on_node_failure",
      maxRequeue: 3,
      ...change.lifecycle,
    },
    ...(change.domain === undefined ? {} : { networkDomain: change.domain }),
    ...(change.after === undefined ? {} : { dependsOn: change.after.map(edge) }),
    ...(change.checkpoint === undefined ? {} : { checkpoint: { ...CHECKPOINT, ...change.checkpoint } }),
  });
}

export const submit = (change: SpecChange = {}, from: Origin = origin()): Command => ({
  kind: "allocation.submit",
  origin: from,
  spec: spec(change),
  createTenant: true,
});

export const cancel = (n: number | string): Command => ({
  kind: "allocation.cancel",
  origin: origin(),
  id: id(n),
  reason: "enough",
});

/** By its owner, or by an administrator. */
export const hold = (n: number | string, held = true, by = "ada"): Extract<Command, { kind: "allocation.hold" }> => ({
  kind: "allocation.hold",
  origin: { ...origin(), user: by as UserName },
  id: id(n),
  held,
  admin: by !== "ada",
});

export const submitGroup = (
  range: readonly [number, number, number?],
  concurrency: number | null = null,
  change: SpecChange = {},
): Command => ({
  kind: "group.submit",
  origin: origin(),
  spec: spec(change),
  range: { start: range[0], end: range[1], step: range[2] ?? 1 },
  concurrency,
  createTenant: true,
});

export interface MemberChange extends SpecChange {
  readonly group?: readonly [number, number, number?];
  readonly concurrency?: number;
}

/** Members in the order of their names in `members`. */
export const submitDag = (members: Readonly<Record<string, MemberChange>>, maxMembers = 1000): Command => ({
  kind: "dag.submit",
  origin: origin(),
  name: "flow",
  members: Object.entries(members).map(([name, change]) => ({
    name,
    spec: { ...spec(change), name: "" },
    group:
      change.group === undefined
        ? null
        : {
            range: { start: change.group[0], end: change.group[1], step: change.group[2] ?? 1 },
            concurrency: change.concurrency ?? null,
          },
  })),
  createTenant: true,
  maxMembers,
});

export const cancelDag = (n: number | string): Command => ({
  kind: "dag.cancel",
  origin: origin(),
  id: `dag-${n}` as DagId,
  reason: "enough",
});

export const register = (name: string, change: Partial<Extract<Command, { kind: "node.register" }>> = {}): Command => ({
  kind: "node.register",
  node: nodeId(name),
  capabilities: {
    cpuCores: 8,
    memoryBytes: 1 << 30,
    gpuType: "",
    gpuCount: 0,
    features: [],
    hostname: name,
    kernel: "6.1",
    isolation: "cgroup",
    hollow: false,
  },
  group: "g1" as GroupId,
  conformance: "",
  homeVCluster: null,
  address: "127.0.0.1",
  agentVersion: "1",
  bootId: "b1",
  ...change,
});

export const health = (name: string, verdict: "heard" | "late" | "silent" | "hardware"): Command => ({
  kind: "node.health",
  node: nodeId(name),
  verdict,
  reason: "heartbeats",
});

export const drain = (name: string, urgent = false): Command => ({
  kind: "node.drain",
  origin: origin(),
  node: nodeId(name),
  reason: "maintenance",
  ...(urgent ? { urgent } : {}),
});
export const undrain = (name: string): Command => ({ kind: "node.undrain", origin: origin(), node: nodeId(name) });
export const disable = (name: string): Command => ({
  kind: "node.disable",
  origin: origin(),
  node: nodeId(name),
  reason: "broken fan",
});
export const enable = (name: string): Command => ({ kind: "node.enable", origin: origin(), node: nodeId(name) });

export const grant = (
  kind: "grant.add" | "grant.remove",
  to: string,
  user: string,
  role = "tenant_admin",
): Command => ({
  kind,
  origin: origin(),
  tenant: tenantId(to),
  user: user as UserName,
  role: role as GrantRole,
});

export const tenant = (name: string, quota: Partial<Quota> = {}, maxPreemptionClass = 10): Command => ({
  kind: "tenant.create",
  origin: origin(),
  tenant: tenantId(name),
  description: "",
  quota: { ...UNLIMITED, ...quota },
  maxPreemptionClass,
});

export const deleteTenant = (name: string): Command => ({
  kind: "tenant.delete",
  origin: origin(),
  tenant: tenantId(name),
});
export const deleteVCluster = (name: string): Command => ({
  kind: "vcluster.delete",
  origin: origin(),
  vcluster: vclusterId(name),
});
export const setConfig = (key: string, value: string | null): Command => ({
  kind: "config.set",
  origin: origin(),
  key,
  value,
});

export const vcluster = (
  name: string,
  change: Partial<Extract<Command, { kind: "vcluster.create" }>> = {},
): Command => ({
  kind: "vcluster.create",
  origin: origin(),
  vcluster: vclusterId(name),
  description: "",
  tenant: null,
  scheduler: "hpc_backfill",
  weights: WEIGHT_PROFILES.hpc_backfill,
  cycleInterval: duration(5000),
  backfillDepth: 10,
  defaultWalltime: duration(60_000),
  maxWalltime: null,
  isDefault: false,
  ...change,
});

export interface Cluster {
  readonly state: State;
  readonly entries: readonly Entry[];
  apply(...commands: readonly Command[]): Applied;
  /** Applies one command and answers its outcome. */
  one(command: Command): Outcome;
  advance(ms: number): void;
  /** Places allocation `n` on the nodes named, based on everything so far. */
  place(n: number | string, ...nodes: readonly string[]): Applied;
  report(n: number | string, node: string, state: ReportCommand["state"], reason?: FailureReason): Applied;
  phase(n: number | string): string;
  nodeState(name: string): string;
  claims(name: string): readonly string[];
}

/** vCluster "batch", no nodes yet. */
export function createCluster(...setUp: readonly Command[]): Cluster {
  const state = createState();
  const entries: Entry[] = [];
  let at = 1_000_000;
  const cluster: Cluster = {
    state,
    entries,
    apply(...commands) {
      const entry = entryFor(state, at, commands);
      entries.push(entry);
      const applied = applyEntry(state, entry);
      expect(brokenInvariants(state)).toEqual([]);
      return applied;
    },
    one(command) {
      const [outcome] = cluster.apply(command).outcomes;
      if (outcome === undefined) throw new Error("no outcome");
      return outcome;
    },
    advance(ms) {
      at += ms;
    },
    place: (n, ...nodes) => cluster.apply(plan(state, n, nodes)),
    report: (n, node, reported, reason) =>
      cluster.apply(reportOf(n, node, state.allocation(id(n))?.attempt ?? attempt(0), reported, reason)),
    phase: (n) => state.allocation(id(n))?.phase.kind ?? "absent",
    nodeState: (name) => state.node(nodeId(name))?.state.kind ?? "absent",
    claims: (name) =>
      (state.node(nodeId(name))?.claims ?? []).map(
        (c) => `${c.allocation}/${c.attempt}${c.releasing ? " releasing" : ""}`,
      ),
  };
  cluster.apply(vcluster("batch", { isDefault: true }), ...setUp);
  return cluster;
}

export const entryFor = (state: State, at: number, commands: readonly Command[]): Entry => ({
  index: logIndex(state.index + 1),
  term: term(1),
  version: entryVersion(commands),
  at: instant(at),
  prevHash: "",
  commands,
});

export const plan = (state: State, n: number | string, nodes: readonly string[], vc = "batch"): Command => ({
  kind: "plan.commit",
  vcluster: vclusterId(vc),
  basis: state.index,
  placements: [
    {
      allocation: id(n),
      attempt: attempt((state.allocation(id(n))?.attempt ?? 0) + 1),
      nodes: nodes.map(nodeId),
      scores: { total: 500 },
      backfilled: false,
    },
  ],
});

export function reportOf(
  n: number | string,
  node: string,
  tries: Attempt,
  state: ReportCommand["state"],
  reason: FailureReason | null = null,
): ReportCommand {
  const exitCode = state === "completed" ? 0 : state === "failed" ? 1 : null;
  const why = state === "failed" ? (reason ?? "exit_code") : null;
  return {
    kind: "attempt.report",
    node: nodeId(node),
    allocation: id(n),
    attempt: tries,
    state,
    exitCode,
    reason: why,
    message: "",
  };
}

export { moves, orders, verdict } from "./read-applied.ts";
