// Elements that a cycle leaves over, placed behind others of their group: where, how many, and when none.

import {
  attempt,
  type Command,
  duration,
  instant,
  logIndex,
  minimalSpec,
  type Placement,
  type State,
  type TenantId,
  type VClusterId,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type CycleResult, mayPlaceBehind, placementsBehind } from "../src/index.ts";
import { AT, apply, clusterOf, named } from "./snapshot/cluster.ts";

const QUEUE = named("batch");
const origin = { user: "ada" as never, requestId: null, bodyHash: "" };
const spec = (tenant: string, vcluster: VClusterId) =>
  minimalSpec({
    tenant: tenant as TenantId,
    vcluster,
    lifecycle: { walltime: duration(60_000), requeuePolicy: "on_node_failure" },
  });
const group = (size: number, tenant = "physics", vcluster: VClusterId = QUEUE): Command => ({
  kind: "group.submit",
  origin,
  spec: spec(tenant, vcluster),
  range: { start: 0, end: size - 1, step: 1 },
  concurrency: null,
  createTenant: true,
});
const job = (vcluster: VClusterId = QUEUE): Command => ({
  kind: "allocation.submit",
  origin,
  spec: spec("physics", vcluster),
  createTenant: true,
});

/** Group 1 of this size; its first element has run for so long. */
function cluster(size: number, ranMs: number, nodes = ["n1", "n2"]): State {
  const state = clusterOf([{ id: QUEUE, isDefault: true }, { id: named("other") }], nodes);
  apply(state, group(size));
  place(state, "1_0", "n1");
  apply(state, end("1_0", "n1", ranMs), AT + ranMs);
  return state;
}

const on = (allocation: string, node: string, more: Partial<Placement> = {}): Placement => ({
  allocation: allocation as never,
  attempt: attempt(1),
  nodes: [node as never],
  scores: {},
  backfilled: false,
  ...more,
});

function place(state: State, allocation: string, node: string): void {
  const placements = [on(allocation, node)];
  apply(state, { kind: "plan.commit", vcluster: QUEUE, basis: logIndex(state.index), placements }, state.at);
}

const end = (allocation: string, node: string, ranMs: number): Command => ({
  kind: "attempt.report",
  node: node as never,
  allocation: allocation as never,
  attempt: attempt(1),
  state: "completed",
  exitCode: 0,
  reason: null,
  message: "",
  startedAt: AT,
  endedAt: instant(AT + ranMs),
});

const NOTHING: Pick<CycleResult, "placements" | "preemptions" | "reservations"> = {
  placements: [],
  preemptions: [],
  reservations: [],
};

function behind(
  state: State,
  decided: Partial<typeof NOTHING> = {},
  foreign: CycleResult["reservations"] = [],
  now: number = state.at,
) {
  const queue = state.vcluster(QUEUE);
  if (queue === undefined) throw new Error("no queue");
  const parts = { now: instant(now), foreignReservations: foreign.map((one) => ({ ...one, endsAt: null })) };
  return placementsBehind(state, queue, { ...NOTHING, ...decided }, parts).map(
    ({ allocation, nodes, behind: waits }) => `${allocation} ${nodes.join()}${waits === true ? "" : " alone"}`,
  );
}
const reserved = (allocation: string, ...nodes: readonly string[]): CycleResult["reservations"] => [
  { allocation: allocation as never, startsAt: instant(AT + 1), nodes: nodes as never },
];

describe("placements behind others", () => {
  it("fill the lines of the nodes that the cycle gives to the group, one element for each in turn", () => {
    const state = cluster(7, 200);
    expect(behind(state, { placements: [on("1_1", "n1"), on("1_2", "n2")] })).toEqual([
      "1_3 n1",
      "1_4 n2",
      "1_5 n1",
      "1_6 n2",
    ]);
  });

  it.each([
    [20, 25],
    [100, 5],
    [260, 1],
    [600, 0],
  ])("are for run times of %d ms at most %d", (ranMs, most) => {
    expect(behind(cluster(200, ranMs), { placements: [on("1_1", "n1")] })).toHaveLength(most);
  });

  it("add to running lines that are half empty, while nothing else waits", () => {
    const state = cluster(60, 50);
    place(state, "1_1", "n1");
    expect(behind(state)).toHaveLength(10);
    apply(state, job(), state.at);
    expect(behind(state)).toEqual([]);
    const elsewhere = cluster(60, 50);
    place(elsewhere, "1_1", "n1");
    apply(elsewhere, job(named("other")), elsewhere.at);
    expect(behind(elsewhere)).toEqual([]);
  });

  it("add to no line whose first element has had the node for a second", () => {
    const state = cluster(60, 50);
    place(state, "1_1", "n1");
    expect(behind(state, {}, [], state.at + 999)).toHaveLength(10);
    expect(behind(state, {}, [], state.at + 1_000)).toEqual([]);
  });

  it("leave nodes that other work has a reservation on, of this queue or of another", () => {
    const state = cluster(60, 100);
    const decided = { placements: [on("1_1", "n1"), on("1_2", "n2")] };
    apply(state, job(), state.at);
    const nodes = (found: readonly string[]) => [...new Set(found.map((text) => text.split(" ")[1]))];
    expect(nodes(behind(state, { ...decided, reservations: reserved("2", "n1") }))).toEqual(["n2"]);
    expect(nodes(behind(state, decided, reserved("2", "n2")))).toEqual(["n1"]);
    expect(nodes(behind(state, { ...decided, reservations: reserved("1_3", "n1") }))).toEqual(["n1", "n2"]);
  });

  it("leave the quota that a reserved start of the same tenant counts on", () => {
    const state = cluster(60, 100, ["n1", "n2", "n3"]);
    const decided = { placements: [on("1_1", "n1")], reservations: reserved("2", "n3") };
    apply(state, job(), state.at);
    expect(behind(state, decided)).not.toEqual([]);
    const change = { quota: { maxNodes: 3 } };
    apply(state, { kind: "tenant.update", origin, tenant: "physics" as TenantId, change }, state.at);
    expect(behind(state, decided)).toEqual([]);
  });

  it("keep to the quota of allocations", () => {
    const state = cluster(60, 50);
    const change = { quota: { maxConcurrentAllocations: 4 } };
    apply(state, { kind: "tenant.update", origin, tenant: "physics" as TenantId, change }, state.at);
    expect(behind(state, { placements: [on("1_1", "n1")] })).toHaveLength(3);
  });

  it("are none beside a preemption, and before the run time of the group is known", () => {
    const preemptions = [{ allocation: "2" }] as unknown as CycleResult["preemptions"];
    expect(behind(cluster(60, 50), { placements: [on("1_1", "n1")], preemptions })).toEqual([]);
    const fresh = clusterOf([{ id: QUEUE, isDefault: true }], ["n1"]);
    apply(fresh, group(60));
    expect(behind(fresh, { placements: [on("1_0", "n1")] })).toEqual([]);
  });

  it("are possible without a free node", () => {
    const state = cluster(60, 50, ["n1"]);
    const queue = state.vcluster(QUEUE);
    place(state, "1_1", "n1");
    expect(queue !== undefined && mayPlaceBehind(state, queue)).toBe(true);
    const slow = cluster(60, 900, ["n1"]);
    expect(queue !== undefined && mayPlaceBehind(slow, queue)).toBe(false);
  });
});
