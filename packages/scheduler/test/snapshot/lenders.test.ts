// Borrowing in the cycle: which nodes are lent, which jobs may use them, and that they are the last choice. The cluster
// is a real state, so that `apply` accepts what is planned.

import {
  applyEntry,
  type Command,
  createState,
  DEFAULT_LENDING,
  duration,
  ENTRY_VERSION,
  instant,
  logIndex,
  NO_CONSTRAINTS,
  type Origin,
  type State,
  term,
  type VCluster,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { cycle, mayPreempt, snapshotFor } from "../../src/index.ts";

const AT = instant(1_000_000);
const origin: Origin = { user: "ada" as never, requestId: null, bodyHash: "" };

function commit(state: State, ...commands: Command[]) {
  const index = logIndex(state.index + 1);
  return applyEntry(state, { index, term: term(1), version: ENTRY_VERSION, at: AT, prevHash: "", commands });
}

const vcluster = (id: string, change: Partial<VCluster> = {}): Command => ({
  kind: "vcluster.create",
  origin,
  vcluster: id as never,
  description: "",
  tenant: null,
  scheduler: "hpc_backfill",
  weights: WEIGHT_PROFILES.hpc_backfill,
  cycleInterval: duration(5000),
  backfillDepth: 1,
  defaultWalltime: duration(60_000),
  maxWalltime: null,
  isDefault: false,
  ...change,
});

const register = (node: string, home: string | null): Command => ({
  kind: "node.register",
  node: node as never,
  capabilities: {
    cpuCores: 8,
    memoryBytes: 2 ** 30,
    gpuType: "",
    gpuCount: 0,
    features: [],
    hostname: node,
    kernel: "",
    isolation: "",
    hollow: true,
  },
  group: "g" as never,
  conformance: "",
  homeVCluster: home as never,
  address: "",
  agentVersion: "",
  bootId: "",
});

const submit = (vc: string, nodes: number, preemptionClass: number, change: object = {}): Command => ({
  kind: "allocation.submit",
  origin,
  createTenant: true,
  spec: {
    tenant: "physics" as never,
    project: "",
    vcluster: vc as never,
    name: "",
    tags: {},
    intent: "",
    task: { kind: "command", words: ["true"] },
    environment: { variables: {}, workdir: "" },
    resources: { minNodes: nodes, maxNodes: nodes, tasksPerNode: 1, constraints: NO_CONSTRAINTS },
    lifecycle: {
      kind: "bounded",
      walltime: duration(3_600_000),
      preemptionClass,
      requeuePolicy: "always",
      maxRequeue: 3,
      ...change,
    },
    slurmEnv: false,
  },
});

/** Two common nodes, three of the owner, which retains one. */
function scene(lending: VCluster["lending"] = { ...DEFAULT_LENDING, keepNodes: 1 }): State {
  const state = createState();
  commit(state, vcluster("owner", { lending: lending ?? null }), vcluster("guest"));
  commit(
    state,
    ...["a1", "a2", "a3"].map((node) => register(node, "owner")),
    register("z1", null),
    register("z2", null),
  );
  return state;
}

/** Plans and commits; the nodes of each placement. */
function run(state: State, vc: string): string[] {
  const policy = state.vcluster(vc as never);
  if (policy === undefined) throw new Error("no such vCluster");
  const { basis, placements, preemptions } = cycle(snapshotFor(state, policy, AT));
  const applied = commit(state, { kind: "plan.commit", vcluster: policy.id, basis, placements });
  expect(JSON.stringify(applied.outcomes)).not.toContain('"code"');
  for (const { allocation, victims, nodes } of preemptions) {
    const named = victims.map((victim) => ({ allocation: victim.allocation, attempt: victim.attempt }));
    const stopped = commit(state, { kind: "allocation.preempt", allocation, basis, victims: named, nodes });
    expect(stopped.outcomes[0]).toMatchObject({ kind: "accepted" });
  }
  return placements.map(({ nodes }) => nodes.join(" "));
}

describe("a borrower", () => {
  it("uses own and common nodes first, and borrowed nodes last", () => {
    const state = scene();
    commit(state, submit("guest", 2, 3), submit("guest", 2, 3));
    expect(run(state, "guest")).toEqual(["z1 z2", "a1 a2"]);
    expect(state.allocation("2" as never)?.scores.borrowed).toBeLessThan(0);
  });

  it("never uses nodes that the owner retains, or more than it lends", () => {
    const state = scene();
    commit(state, submit("guest", 5, 3));
    expect(run(state, "guest")).toEqual([]);
    const all = scene(DEFAULT_LENDING);
    commit(all, submit("guest", 5, 3));
    expect(run(all, "guest")).toHaveLength(1);
  });

  it.each([
    ["is not lent to", () => submit("guest", 4, 3), null],
    ["asks above its class", () => submit("guest", 4, 5), undefined],
    ["asks not to be stopped", () => submit("guest", 4, 3, { noPreempt: true }), undefined],
    ["runs too long", () => submit("guest", 4, 3), { ...DEFAULT_LENDING, maxDuration: duration(60_000) }],
  ])("borrows nothing where it %s", (_, command, lending) => {
    const state = scene(lending);
    commit(state, command());
    expect(run(state, "guest")).toEqual([]);
  });

  it("waits while the owner has work waiting", () => {
    const state = scene(DEFAULT_LENDING);
    commit(state, submit("owner", 9, 5), submit("guest", 4, 3));
    expect(run(state, "guest")).toEqual([]);
  });

  it("returns nodes to the owner, which starts there", () => {
    const state = scene(DEFAULT_LENDING);
    commit(state, submit("guest", 5, 3), submit("owner", 3, 5));
    commit(state, { kind: "allocation.cancel", origin, id: "2" as never, reason: "" });
    expect(run(state, "guest")).toHaveLength(1);
    commit(state, submit("owner", 3, 5));
    const owner = state.vcluster("owner" as never);
    expect(owner !== undefined && mayPreempt(state, owner)).toBe(true);
    expect(run(state, "owner")).toEqual([]);
    expect(state.allocation("1" as never)?.phase).toMatchObject({ kind: "pending", cause: "preempted" });
    const gone = ["a1", "a2", "a3", "z1", "z2"].map(
      (node): Command => ({
        kind: "attempt.report",
        node: node as never,
        allocation: "1" as never,
        attempt: 1 as never,
        state: "failed",
        exitCode: null,
        reason: "stopped",
        message: "",
      }),
    );
    commit(state, ...gone);
    expect(run(state, "guest"), "the nodes are kept for the owner").toEqual([]);
    expect(run(state, "owner")).toHaveLength(1);
  });
});
