// A small, correct history: two jobs, one of them requeued after its node went silent, and one of a tenant with a
// quota. Tests break it in one place and check that the break is detected.
import { createHash } from "node:crypto";
import {
  type AllocationId,
  attempt,
  type Command,
  duration,
  encodeEntry,
  type GroupId,
  instant,
  logIndex,
  minimalSpec,
  type NodeId,
  type TenantId,
  term,
  UNLIMITED,
  type UserName,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import type { History, LogEntry, ProcessRun, Submission } from "../history.ts";
import { foldLog } from "./fold.ts";

export type Batch = { readonly term?: number; readonly commands: readonly Command[] };

export function sampleHistory(batches: readonly Batch[] = BATCHES): History {
  const log = logOf(batches);
  const { lastIndex, hashes } = foldLog(log, { at: new Set(log.map(({ index }) => index)), quotas: new Map() });
  const hash = hashes.get(lastIndex) ?? "";
  const states = new Map([
    ["1", "completed"],
    ["2", "completed"],
    ["3", "completed"],
  ]);
  const servers = ["server-1", "server-2"].map((server) => ({ server, index: lastIndex, hash }));
  return {
    submissions: [submission("a", "1"), submission("b", "2"), submission("c", "3", "limited")],
    runs: [
      run({ allocation: "1", node: "n1", startedAt: 1_000, aliveUntil: 9_000, finished: false }),
      run({ allocation: "2", node: "n2", startedAt: 1_000, aliveUntil: 2_000 }),
      run({ allocation: "1", attempt: 2, node: "n2", startedAt: 4_000, aliveUntil: 5_000 }),
      run({ allocation: "3", node: "n2", tenant: "limited", startedAt: 6_000, aliveUntil: 7_000 }),
    ],
    polls: [{ server: "server-1", index: 3, hash: hashes.get(3) ?? "" }],
    log,
    faults: [{ name: "partition-node", seconds: 9, complaints: [] }],
    contradictions: [],
    end: {
      allocations: new Map(servers.map(({ server }) => [server, states])),
      servers,
      nodesNotReady: [],
      left: [],
    },
    limits: { quotas: new Map([["limited", 1]]), least: { acknowledged: 3, runs: 4, entries: 5, faults: 1 } },
  };
}

export const submission = (requestId: string, id: string | null, tenant = "physics"): Submission => ({
  requestId,
  tenant,
  nodes: 1,
  tries: 1,
  id,
  sentAt: 0,
  answeredAt: 1,
  refusal: null,
});

export const run = (change: Partial<ProcessRun>): ProcessRun => ({
  allocation: "1",
  attempt: 1,
  node: "n1",
  tenant: "physics",
  startedAt: 0,
  aliveUntil: 1,
  finished: true,
  ...change,
});

export function logOf(batches: readonly Batch[]): readonly LogEntry[] {
  let prevHash = "";
  return batches.map(({ term: of = 1, commands }, at) => {
    const index = at + 1;
    const entry = {
      index: logIndex(index),
      term: term(of),
      version: 1,
      at: instant(1_000 * index),
      prevHash,
      commands,
    };
    const bytes = new TextEncoder().encode(encodeEntry(entry));
    prevHash = createHash("sha256").update(bytes).digest("hex");
    return { index, bytes };
  });
}

const origin = (requestId: string | null) => ({ user: "ada" as UserName, requestId, bodyHash: requestId ?? "" });

export const submit = (name: string, tenant = "physics"): Command => ({
  kind: "allocation.submit",
  origin: origin(name),
  spec: minimalSpec({
    tenant: tenant as TenantId,
    name,
    lifecycle: { walltime: duration(3_600_000), requeuePolicy: "on_node_failure", maxRequeue: 3 },
  }),
  createTenant: true,
});

const register = (name: string): Command => ({
  kind: "node.register",
  node: name as NodeId,
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
  address: "",
  agentVersion: "1",
  bootId: "b1",
});

const place = (id: string, n: number, node: string, basis: number): Command => ({
  kind: "plan.commit",
  vcluster: "batch" as VClusterId,
  basis: logIndex(basis),
  placements: [
    { allocation: id as AllocationId, attempt: attempt(n), nodes: [node as NodeId], scores: {}, backfilled: false },
  ],
});

const report = (id: string, n: number, node: string, state: "running" | "completed"): Command => ({
  kind: "attempt.report",
  node: node as NodeId,
  allocation: id as AllocationId,
  attempt: attempt(n),
  state,
  exitCode: state === "completed" ? 0 : null,
  reason: null,
  message: "",
});

const health = (node: string, verdict: "late" | "silent" | "heard"): Command => ({
  kind: "node.health",
  node: node as NodeId,
  verdict,
  reason: "",
});

export const BATCHES: readonly Batch[] = [
  {
    commands: [
      {
        kind: "tenant.create",
        origin: origin(null),
        tenant: "limited" as TenantId,
        description: "",
        quota: { ...UNLIMITED, maxNodes: 1 },
        maxPreemptionClass: 10,
      },
      {
        kind: "vcluster.create",
        origin: origin(null),
        vcluster: "batch" as VClusterId,
        description: "",
        tenant: null,
        scheduler: "hpc_backfill",
        weights: WEIGHT_PROFILES.hpc_backfill,
        cycleInterval: duration(5_000),
        backfillDepth: 10,
        defaultWalltime: duration(60_000),
        maxWalltime: null,
        isDefault: true,
      },
      register("n1"),
      register("n2"),
    ],
  },
  { commands: [submit("a"), submit("b"), submit("c", "limited")] },
  { commands: [place("1", 1, "n1", 2), place("2", 1, "n2", 2)] },
  { commands: [report("1", 1, "n1", "running"), report("2", 1, "n2", "running")] },
  { commands: [report("2", 1, "n2", "completed")] },
  { term: 2, commands: [health("n1", "late"), health("n1", "silent")] },
  { term: 2, commands: [place("1", 2, "n2", 6)] },
  { term: 2, commands: [report("1", 2, "n2", "running"), report("1", 2, "n2", "completed")] },
  { term: 2, commands: [place("3", 1, "n2", 8), health("n1", "heard")] },
  { term: 2, commands: [report("3", 1, "n2", "running"), report("3", 1, "n2", "completed")] },
];
