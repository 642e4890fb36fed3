// The snapshot of a view: nodes, releases, pending allocations, tenants.

import {
  type Allocation,
  type AllocationSpec,
  attempt,
  type Claim,
  createState,
  type Duration,
  type GroupId,
  instant,
  logIndex,
  NO_CONSTRAINTS,
  type Node,
  type NodeState,
  newAllocation,
  type Tenant,
  type TenantId,
  UNLIMITED,
  type UserName,
  type VCluster,
  type VClusterId,
  type View,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { hasNothingToDo, snapshotFor } from "../../src/index.ts";
import { allocationId, MINUTE, NOW, nodeIds } from "../make.ts";

const batch: VCluster = {
  id: "hpc-batch" as VClusterId,
  description: "",
  tenant: null,
  scheduler: "hpc_backfill",
  weights: WEIGHT_PROFILES.hpc_backfill,
  cycleInterval: 5000 as Duration,
  backfillDepth: 3,
  defaultWalltime: 60_000 as Duration,
  maxWalltime: null,
  isDefault: true,
  createdAt: NOW,
};

const ready: NodeState = { kind: "ready", since: NOW };

function record(id: string, fields: { state?: NodeState; home?: string | null; claims?: Partial<Claim>[] } = {}): Node {
  const claims = (fields.claims ?? []).map(
    (claim): Claim => ({
      allocation: allocationId(1),
      attempt: attempt(1),
      tenant: "physics" as TenantId,
      vcluster: batch.id,
      exclusive: true,
      releasing: false,
      since: NOW,
      ...claim,
    }),
  );
  return {
    id: nodeIds(id)[0] ?? (id as Node["id"]),
    state: fields.state ?? ready,
    capabilities: {
      cpuCores: 8,
      memoryBytes: 1024,
      gpuType: "GH200",
      gpuCount: 4,
      features: ["nvme"],
      hostname: id,
      kernel: "",
      isolation: "",
      hollow: false,
    },
    group: "g1" as GroupId,
    conformance: "x",
    homeVCluster: (fields.home ?? null) as VClusterId | null,
    address: "",
    agentVersion: "",
    bootId: "",
    registeredAt: NOW,
    claims,
  };
}

function allocation(id: number, phase: Allocation["phase"], walltime: number | null = 10 * MINUTE): Allocation {
  const spec: AllocationSpec = {
    tenant: "physics" as TenantId,
    project: "",
    vcluster: batch.id,
    name: "",
    tags: {},
    intent: "",
    task: { kind: "entrypoint", line: "true" },
    environment: { variables: {}, workdir: "" },
    resources: { minNodes: 2, maxNodes: 3, tasksPerNode: 1, constraints: NO_CONSTRAINTS },
    lifecycle: {
      kind: walltime === null ? "unbounded" : "bounded",
      walltime: walltime as Duration | null,
      preemptionClass: 4,
      requeuePolicy: "never",
      maxRequeue: 3,
    },
    slurmEnv: false,
  };
  const given = { id: allocationId(id), user: "ada" as UserName, spec, submittedAt: instant(NOW - 1000) };
  return {
    ...newAllocation(given, { at: given.submittedAt, index: logIndex(3) }),
    phase,
    attempt: attempt(2),
    requeues: 1,
  };
}

const tenantRecord = (id: string, quota: Partial<Tenant["quota"]> = {}): Tenant => ({
  id: id as TenantId,
  description: "",
  quota: { ...UNLIMITED, ...quota },
  maxPreemptionClass: 10,
  createdAt: NOW,
  automatic: false,
});

interface Tables {
  readonly nodes?: readonly Node[];
  readonly pending?: readonly Allocation[];
  readonly placed?: readonly Allocation[];
  readonly tenants?: readonly Tenant[];
}

function viewOf({ nodes = [], pending = [], placed = [], tenants = [] }: Tables): View {
  return {
    identity: null,
    index: logIndex(42),
    at: NOW,
    version: 1,
    ledger: createState().ledger,
    retention: { maxFinished: 1, maxFinishedAge: 1 as Duration },
    allocation: () => undefined,
    allocations: () => [...pending, ...placed],
    allocationCount: pending.length + placed.length,
    pending: (id) => (id === batch.id ? pending : []),
    pendingCount: (id) => (id === batch.id ? pending.length : 0),
    highestPendingClass: () => Math.max(-1, ...pending.map(({ spec }) => spec.lifecycle.preemptionClass)),
    awaiting: () => [],
    held: () => [],
    onHold: () => [],
    onHoldCount: 0,
    elementHold: () => null,
    heldElements: () => [],
    placed: () => placed,
    blockedCount: 0,
    placedCount: placed.length,
    lowestPlacedClass: Math.min(...placed.map(({ spec }) => spec.lifecycle.preemptionClass)),
    node: () => undefined,
    nodes: () => nodes,
    nodeCount: nodes.length,
    freeNodeCount: nodes.filter((node) => node.state.kind === "ready" && node.claims.length === 0).length,
    homeNodes: () => ({ home: 0, lent: 0 }),
    tenant: () => undefined,
    tenants: () => tenants,
    usage: () => ({ nodes: 2, running: 1 }),
    claimedNodes: () => 0,
    vcluster: () => batch,
    changes: { count: 0, since: () => null },
    vclusters: () => [batch],
    blocked: () => [],
    group: () => undefined,
    groups: () => [],
    pendingElements: () => 0,
    restingElements: () => 0,
    element: () => null,
    mutexHolder: () => null,
    dag: () => undefined,
    notice: () => undefined,
    notices: () => [],
    network: createState().network,
    limits: createState().limits,
    domain: () => undefined,
    domains: () => [],
    hooks: () => [],
    clearings: () => [],
    deliveries: () => [],
    dags: () => [],
    settings: () => [],
    newest: () => [],
    ofUser: () => [],
    ofUserCount: () => 0,
    phaseCount: () => 0,
    grants: () => [],
    grantsOf: () => [],
    enrolments: () => [],
    enrolment: () => undefined,
    secret: () => null,
    earlierSecrets: () => [],
    audit: () => [],
    lastAudit: () => undefined,
    auditRecord: () => undefined,
    signedAudit: () => 0,
    auditKeys: () => [],
    auditKey: () => null,
    request: () => undefined,
    requestsOf: () => ({ count: 0, oldest: undefined }),
  };
}

const pendingPhase = { kind: "pending", since: NOW, cause: "submitted" } as const;
const placedFacts = { nodes: nodeIds("a"), placedAt: NOW, progress: [] };

describe("a snapshot", () => {
  it("has the nodes without a home and of its vCluster, with their state", () => {
    const down: NodeState = { kind: "down", since: NOW, cause: "silent", reason: "", back: "ready" };
    const nodes = [
      record("a"),
      record("b", { home: "hpc-batch", claims: [{}] }),
      record("c", { home: "interactive" }),
      record("d", { state: down }),
      record("e", { state: { kind: "degraded", since: NOW, cause: "silent" } }),
      record("f", { state: { kind: "draining", since: NOW, reason: "" }, claims: [{}] }),
    ];
    const shown = snapshotFor(viewOf({ nodes }), batch, NOW).nodes.map(
      ({ id, free, usable, notFreeBecause }) => [id, free, usable, notFreeBecause] as const,
    );
    expect(shown).toEqual([
      ["a", true, true, ""],
      ["b", false, true, "busy"],
      ["d", false, false, "down"],
      ["e", false, true, "degraded"],
      ["f", false, false, "draining"],
    ]);
  });

  it.each([
    {
      name: "running: from its start, grace included",
      placed: allocation(1, { kind: "running", ...placedFacts, startedAt: instant(NOW - 60_000) }),
      endsAt: NOW - 60_000 + 10 * MINUTE + 30_000,
    },
    {
      name: "staging: from its placement",
      placed: allocation(1, { kind: "staging", ...placedFacts }),
      endsAt: NOW + 10 * MINUTE + 30_000,
    },
    {
      name: "unbounded: never",
      placed: allocation(1, { kind: "running", ...placedFacts, startedAt: NOW }, null),
      endsAt: null,
    },
  ])("has releases: $name", ({ placed, endsAt }) => {
    const { releases } = snapshotFor(viewOf({ placed: [placed] }), batch, NOW);
    expect(releases).toEqual([{ allocation: "1", nodes: ["a"], endsAt, tenant: "physics" }]);
  });

  it("has an idle node without a connection as not free, with the reason", () => {
    const nodes = [record("n1"), record("n2")];
    const shown = snapshotFor(viewOf({ nodes }), batch, NOW, (id) => id === "n1").nodes;
    expect(shown.map((node) => [node.free, node.usable, node.notFreeBecause])).toEqual([
      [true, true, ""],
      [false, true, "unreachable"],
    ]);
  });

  it("expects releasing nodes soon", () => {
    const nodes = [record("a", { claims: [{ releasing: true }] }), record("b", { claims: [{ releasing: false }] })];
    const { releases } = snapshotFor(viewOf({ nodes }), batch, NOW);
    expect(releases).toEqual([{ allocation: "1", nodes: ["a"], endsAt: NOW + 30_000, tenant: "physics" }]);
  });

  it("has pending allocations with their next attempt", () => {
    const taken = snapshotFor(viewOf({ pending: [allocation(7, pendingPhase)] }), batch, NOW);
    expect(taken).toMatchObject({ vcluster: "hpc-batch", now: NOW, basis: 42, isFifo: false, backfillDepth: 3 });
    expect(taken.pending).toEqual([
      {
        id: "7",
        tenant: "physics",
        submittedAt: NOW - 1000,
        minNodes: 2,
        maxNodes: 3,
        constraints: NO_CONSTRAINTS,
        walltime: 10 * MINUTE,
        preemptionClass: 4,
        nextAttempt: 3,
      },
    ]);
  });

  it("gives tenants without a share an equal one", () => {
    const tenants = [tenantRecord("a", { fairShareMilli: 700, maxNodes: 9 }), tenantRecord("b"), tenantRecord("c")];
    const taken = snapshotFor(viewOf({ tenants }), batch, NOW).tenants;
    expect(taken.map(({ fairShareMilli }) => fairShareMilli)).toEqual([700, 333, 333]);
    expect(taken[0]).toMatchObject({ id: "a", nodesInUse: 2, running: 1, maxNodes: 9, maxConcurrentAllocations: null });
  });

  it("of an interactive vCluster is first come, first served", () => {
    expect(snapshotFor(viewOf({}), { ...batch, scheduler: "interactive_fifo" }, NOW).isFifo).toBe(true);
  });
});

describe("nothing to do", () => {
  const pending = [allocation(7, pendingPhase)];
  it.each([
    { name: "nothing pending", tables: { nodes: [record("a")] }, expected: true },
    { name: "nothing free", tables: { nodes: [record("a", { claims: [{}] })], pending }, expected: true },
    { name: "both", tables: { nodes: [record("a")], pending }, expected: false },
  ])("$name: $expected", ({ tables, expected }) => {
    expect(hasNothingToDo(viewOf(tables), batch)).toBe(expected);
  });
});
