// A made-up cluster for the scheduler's benches, through the real log: racks of GPU and CPU nodes in
// dragonfly groups, a few fingerprints, most nodes busy until some time of the coming day, a queue of
// every kind of request from twenty tenants. The same every time.
import {
  type AllocationId,
  applyEntry,
  attempt,
  type Command,
  type Constraints,
  createState,
  duration,
  ENTRY_VERSION,
  type GroupId,
  instant,
  logIndex,
  minimalSpec,
  NO_CONSTRAINTS,
  type NodeId,
  type State,
  seconds,
  type TenantId,
  term,
  type UserName,
  type VCluster,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";

export interface Shape {
  readonly nodes: number;
  readonly pending: number;
}

export const NOW = instant(1_800_000_000_000);
const VCLUSTER = "hpc-batch" as VClusterId;
const GROUP_SIZE = 128;
const TENANTS = 20;
const BUSY_SHARE = 0.85;

export function clusterOf({ nodes, pending }: Shape): { readonly state: State; readonly vcluster: VCluster } {
  const state = createState();
  const random = generator(nodes + pending);
  commit(state, NOW - 3_600_000, [createVCluster(), ...tenants(), ...range(nodes).map((i) => register(i))]);
  occupy(state, nodes, random);
  const queue = range(pending).map(() => submit(random, 1 + Math.floor(random() ** 4 * (nodes / 16))));
  for (let from = 0; from < queue.length; from += 1000) {
    commit(state, NOW - Math.floor((1 - from / queue.length) * 3_000_000), queue.slice(from, from + 1000));
  }
  const vcluster = state.vcluster(VCLUSTER);
  if (vcluster === undefined) throw new Error("the vCluster was refused");
  return { state, vcluster };
}

/** Fills most of the machine with allocations that run. */
function occupy(state: State, nodes: number, random: () => number): void {
  let next = 0;
  const sizes: number[] = [];
  for (let taken = 0; taken < nodes * BUSY_SHARE; taken += sizes.at(-1) ?? 1)
    sizes.push(1 + Math.floor(random() ** 3 * 24));
  const submitted = commit(
    state,
    NOW - 3_500_000,
    sizes.map((size) => submit(random, size, NO_CONSTRAINTS)),
  );
  const placements = sizes.map((size, i) => {
    const outcome = submitted[i];
    if (outcome?.kind !== "accepted") throw new Error("a running allocation was refused");
    const chosen = range(size).map((k) => nodeName(((next + k) * 7919) % nodes));
    next += size;
    return {
      allocation: outcome.id as AllocationId,
      attempt: attempt(1),
      nodes: chosen,
      scores: {},
      backfilled: false,
    };
  });
  commit(state, NOW - 3_400_000, [{ kind: "plan.commit", vcluster: VCLUSTER, basis: state.index, placements }]);
  // A tenant at its limit runs less than was planned; what it was refused waits.
  const placed = placements.filter(({ allocation }) => state.allocation(allocation)?.phase.kind === "staging");
  const running = placed.flatMap(({ allocation, nodes: on }) =>
    on.map(
      (node): Command => ({
        kind: "attempt.report",
        node,
        allocation,
        attempt: attempt(1),
        state: "running",
        exitCode: null,
        reason: null,
        message: "",
      }),
    ),
  );
  commit(state, NOW - 3_300_000, running);
}

function submit(random: () => number, size: number, constraints = someConstraints(random)): Command {
  const tenant = `tenant-${Math.floor(random() * TENANTS)}` as TenantId;
  const range = random() < 0.1 ? 2 : 1;
  return {
    kind: "allocation.submit",
    origin: { user: "bench" as UserName, requestId: null, bodyHash: "" },
    createTenant: false,
    spec: minimalSpec({
      tenant,
      vcluster: VCLUSTER,
      task: { kind: "command", words: ["true"] },
      resources: { minNodes: size, maxNodes: size * range, constraints },
      lifecycle: {
        walltime: duration(3_600_000 + Math.floor(random() * 96) * 900_000),
        preemptionClass: Math.floor(random() * 10),
      },
    }),
  };
}

function someConstraints(random: () => number): Constraints {
  const roll = random();
  return {
    ...NO_CONSTRAINTS,
    ...(roll < 0.4 ? { gpuType: "GH200", gpuCount: 4 } : roll < 0.5 ? { memoryBytes: 700 * 2 ** 30 } : {}),
    ...(random() < 0.1 ? { features: ["nvme"] } : {}),
    ...(random() < 0.1 ? { topology: "tight" as const } : {}),
    ...(random() < 0.05 ? { requireConformance: true } : {}),
    ...(random() < 0.05 ? { excludedNodes: [nodeName(Math.floor(random() * 100))] } : {}),
  };
}

function register(i: number): Command {
  const gpu = Math.floor(i / GROUP_SIZE) % 2 === 0;
  return {
    kind: "node.register",
    node: nodeName(i),
    capabilities: {
      cpuCores: gpu ? 288 : 128,
      memoryBytes: (gpu ? 854 : 512) * 2 ** 30,
      gpuType: gpu ? "GH200" : "",
      gpuCount: gpu ? 4 : 0,
      features: i % 3 === 0 ? ["nvme"] : [],
      hostname: nodeName(i),
      kernel: "",
      isolation: "",
      hollow: true,
    },
    group: `g${Math.floor(i / GROUP_SIZE)}` as GroupId,
    conformance: i % 41 === 0 ? "drifted" : `${gpu ? "gpu" : "cpu"}-2026`,
    homeVCluster: null,
    address: "",
    agentVersion: "",
    bootId: "",
  };
}

const createVCluster = (): Command => ({
  kind: "vcluster.create",
  origin: { user: "bench" as UserName, requestId: null, bodyHash: "" },
  vcluster: VCLUSTER,
  description: "",
  tenant: null,
  scheduler: "hpc_backfill",
  weights: WEIGHT_PROFILES.hpc_backfill,
  cycleInterval: seconds(5),
  backfillDepth: 20,
  defaultWalltime: seconds(3600),
  maxWalltime: null,
  isDefault: true,
});

const tenants = (): Command[] =>
  range(TENANTS).map((i) => ({
    kind: "tenant.create",
    origin: { user: "bench" as UserName, requestId: null, bodyHash: "" },
    tenant: `tenant-${i}` as TenantId,
    description: "",
    maxPreemptionClass: 10,
    quota: {
      maxNodes: null,
      maxConcurrentAllocations: i === 0 ? 5 : null,
      fairShareMilli: 50,
      gpuHoursBudget: i % 2 === 0 ? 1000 : null,
      nodeHoursBudget: null,
      burstAllowanceMilli: 1500,
    },
  }));

const nodeName = (i: number): NodeId => `nid${String(i).padStart(6, "0")}` as NodeId;
const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

/** A small linear congruence: the same numbers on every machine. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function commit(state: State, at: number, commands: readonly Command[]) {
  const { outcomes } = applyEntry(state, {
    index: logIndex(state.index + 1),
    term: term(1),
    version: ENTRY_VERSION,
    at: instant(at),
    prevHash: "",
    commands,
  });
  const refused = outcomes.find((outcome) => outcome.kind === "rejected");
  if (refused?.kind === "rejected") throw new Error(refused.refusal.detail);
  return outcomes;
}
