// A real state under a random history: submissions, plans, reports, cancellations, nodes that are drained,
// disabled and come back, quotas that change. What is refused changes nothing and is no matter.

import {
  type Allocation,
  type AllocationId,
  applyEntry,
  type Command,
  createState,
  duration,
  ENTRY_VERSION,
  type GroupId,
  instant,
  isPlaced,
  logIndex,
  type NodeId,
  type Origin,
  type Placement,
  type State,
  seconds,
  type TenantId,
  term,
  type UserName,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import * as fc from "fast-check";

export const VCLUSTER = "v" as VClusterId;
const OTHER = "w" as VClusterId;
const ORIGIN: Origin = { user: "u" as UserName, requestId: null, bodyHash: "" };

export interface Step {
  readonly what: "submit" | "end" | "start" | "cancel" | "node" | "tenant" | "depth" | "wait" | "walltime";
  readonly seconds: number;
  readonly pick: number;
  readonly size: number;
  readonly walltime: number | null;
  readonly kind: number;
}

export const someStep: fc.Arbitrary<Step> = fc.record({
  what: fc.oneof(
    { weight: 8, arbitrary: fc.constant("submit" as const) },
    { weight: 6, arbitrary: fc.constant("end" as const) },
    { weight: 3, arbitrary: fc.constant("start" as const) },
    { weight: 4, arbitrary: fc.constantFrom("cancel" as const, "node" as const, "tenant" as const, "wait" as const) },
    { weight: 1, arbitrary: fc.constantFrom("depth" as const, "walltime" as const) },
  ),
  seconds: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 }), fc.integer({ min: 100, max: 4000 })),
  pick: fc.nat(1000),
  size: fc.integer({ min: 1, max: 9 }),
  walltime: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 1, max: 60 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  kind: fc.nat(20),
});

export interface History {
  readonly state: State;
  now(): number;
  step(step: Step): void;
  commit(commands: readonly Command[]): void;
  place(placements: readonly Placement[], vcluster?: VClusterId): void;
}

export function createHistory(nodes: number, depth: number): History {
  const state = createState();
  let at = 1_000_000;
  const commit = (commands: readonly Command[]): void => {
    const index = logIndex(state.index + 1);
    applyEntry(state, { index, term: term(1), version: ENTRY_VERSION, at: instant(at), prevHash: "", commands });
  };
  const create = (vcluster: VClusterId, isDefault: boolean): Command => ({
    kind: "vcluster.create",
    origin: ORIGIN,
    vcluster,
    description: "",
    tenant: null,
    scheduler: "hpc_backfill",
    weights: WEIGHT_PROFILES.hpc_backfill,
    cycleInterval: seconds(5),
    backfillDepth: depth,
    defaultWalltime: seconds(3600),
    maxWalltime: null,
    isDefault,
  });
  commit([create(VCLUSTER, true), create(OTHER, false)]);
  commit(Array.from({ length: nodes }, (_, i) => register(i)));
  commit([{ kind: "retention.set", maxFinished: 3, maxFinishedAge: duration(1e9) }]);
  return {
    state,
    now: () => at,
    commit,
    step(step) {
      at += step.seconds * 1000;
      commit(commandsOf(state, step));
    },
    place: (placements, vcluster = VCLUSTER) =>
      commit([{ kind: "plan.commit", vcluster, basis: state.index, placements }]),
  };
}

function register(i: number, other = false): Command {
  const gpus = i % 3 === 0 ? 4 : 0;
  const machine = { hostname: "", kernel: "", isolation: "", hollow: true };
  return {
    kind: "node.register",
    node: `n${String(i).padStart(2, "0")}` as NodeId,
    capabilities: {
      cpuCores: 8,
      memoryBytes: 2 ** 30,
      gpuType: gpus > 0 ? "A" : "",
      gpuCount: gpus,
      features: [],
      ...machine,
    },
    group: `g${i % 4}` as GroupId,
    conformance: i % 5 === 0 ? "x" : "y",
    homeVCluster: other ? OTHER : null,
    address: "",
    agentVersion: "",
    bootId: "",
  };
}

function commandsOf(state: State, step: Step): readonly Command[] {
  const { what, pick, size, kind } = step;
  const node = `n${String(pick % 13).padStart(2, "0")}` as NodeId;
  switch (what) {
    case "submit":
      return Array.from({ length: 1 + (pick % 3) }, () => submit(step));
    case "start":
    case "end":
      return reports(chosen([...state.placed()], pick), what === "end" ? "completed" : "running", kind);
    case "cancel": {
      const record = chosen([...state.allocations()], pick);
      return record === undefined ? [] : [{ kind: "allocation.cancel", origin: ORIGIN, id: record.id, reason: "" }];
    }
    case "walltime": {
      const record = chosen([...state.allocations()], pick);
      const change = { walltime: seconds(size * 1000) };
      return record === undefined ? [] : [{ kind: "allocation.update", origin: ORIGIN, id: record.id, change }];
    }
    case "node":
      return nodeCommands(node, pick, kind);
    case "tenant": {
      const quota = { maxNodes: kind % 3 === 0 ? null : size * 2, nodeHoursBudget: kind % 4 === 0 ? size : null };
      return [{ kind: "tenant.update", origin: ORIGIN, tenant: tenantOf(kind), change: { quota } }];
    }
    case "depth":
      return [{ kind: "vcluster.update", origin: ORIGIN, vcluster: VCLUSTER, change: { backfillDepth: size % 5 } }];
    case "wait":
      return [];
  }
}

function nodeCommands(node: NodeId, pick: number, kind: number): readonly Command[] {
  const named = { origin: ORIGIN, node };
  switch (kind % 8) {
    case 7:
      return [{ kind: "node.assign", ...named, vcluster: pick % 2 === 0 ? VCLUSTER : null }];
    case 0:
      return [{ kind: "node.drain", ...named, reason: "" }];
    case 1:
      return [{ kind: "node.undrain", ...named }];
    case 2:
      return [{ kind: "node.disable", ...named, reason: "" }];
    case 3:
      return [{ kind: "node.enable", ...named }];
    case 4:
      return [{ kind: "node.health", node, verdict: "silent", reason: "" }];
    case 5:
      return [{ kind: "node.health", node, verdict: "heard", reason: "" }];
    default:
      return [register(pick % 13, pick % 2 === 0)];
  }
}

const tenantOf = (kind: number): TenantId => `t${kind % 3}` as TenantId;

const chosen = (records: readonly Allocation[], pick: number): Allocation | undefined => records[pick % records.length];

function reports(record: Allocation | undefined, state: "running" | "completed", kind: number): readonly Command[] {
  if (record === undefined || !isPlaced(record.phase)) return [];
  const { nodes } = record.phase;
  // Now and then only some of them speak.
  const speaking = kind % 4 === 0 ? nodes.slice(0, 1) : nodes;
  const { id: allocation, attempt } = record;
  return speaking.map((node) => ({
    kind: "attempt.report",
    node,
    allocation,
    attempt,
    state,
    exitCode: state === "completed" ? 0 : null,
    reason: null,
    message: "",
  }));
}

function submit({ size, walltime, kind, pick }: Step): Command {
  const gpu = kind % 6 === 0;
  return {
    kind: "allocation.submit",
    origin: ORIGIN,
    createTenant: true,
    spec: {
      tenant: tenantOf(kind),
      project: "",
      vcluster: kind % 11 === 0 ? OTHER : VCLUSTER,
      name: "",
      tags: {},
      intent: "",
      task: { kind: "command", words: ["true"] },
      environment: { variables: {}, workdir: "" },
      resources: {
        minNodes: gpu ? 1 + (size % 3) : size,
        maxNodes: kind % 7 === 0 ? size + 2 : gpu ? 1 + (size % 3) : size,
        tasksPerNode: 1,
        constraints: {
          gpuType: "",
          gpuCount: gpu ? 4 : 0,
          memoryBytes: 0,
          cpuCores: 0,
          features: [],
          topology: kind % 5 === 0 ? "tight" : "any",
          requiredNodes: [],
          excludedNodes: kind % 9 === 0 ? ["n01" as NodeId] : [],
        },
      },
      lifecycle: {
        ...(walltime === null
          ? { kind: "unbounded" as const, walltime: null }
          : { kind: "bounded" as const, walltime: seconds(walltime * 60) }),
        preemptionClass: pick % 17 === 0 ? 7 : 3,
        requeuePolicy: "always",
        maxRequeue: 3,
      },
      slurmEnv: false,
    },
  } as Command;
}

export const isPendingIn = (state: State, id: AllocationId): boolean => state.allocation(id)?.phase.kind === "pending";
