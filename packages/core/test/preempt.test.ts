// Preemption and lending in the log: which commands are accepted, and the consequences for preemptor, victim and nodes.

import { type Command, duration, logIndex, type VCluster } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { brokenInvariants } from "./invariants/broken-invariants.ts";
import {
  type Cluster,
  createCluster,
  id,
  nodeId,
  origin,
  plan,
  register,
  reportOf,
  submit,
  vcluster,
  vclusterId,
} from "./support/cluster.ts";

const place = (cluster: Cluster, vc: string, n: number, ...nodes: string[]) =>
  cluster.apply(plan(cluster.state, n, nodes, vc));
const refusalOf = (cluster: Cluster, vc: string, n: number, ...nodes: string[]): string => {
  const [outcome] = place(cluster, vc, n, ...nodes).outcomes;
  return outcome?.kind === "accepted" ? (outcome.placements?.[0]?.refusal?.detail ?? "") : "";
};
const report = (n: number, node: string, state: "failed" | "completed") => reportOf(n, node, 1 as never, state);

const HOME = { homeVCluster: vclusterId("batch") };

function scene(victim: object = {}, winner: object = {}, settings: Partial<VCluster> = {}) {
  const cluster = createCluster();
  cluster.apply(vcluster("other", settings), register("n1"), register("n2"));
  cluster.apply(submit({ vcluster: "other", nodes: 2, lifecycle: { preemptionClass: 2, maxRequeue: 0, ...victim } }));
  place(cluster, "other", 1, "n1", "n2");
  cluster.apply(submit({ nodes: 1, lifecycle: { preemptionClass: 8, ...winner } }));
  return cluster;
}

const preempt = (basis: number, change: Partial<Extract<Command, { kind: "allocation.preempt" }>> = {}): Command => ({
  kind: "allocation.preempt",
  allocation: id(2),
  basis: logIndex(basis),
  victims: [{ allocation: id(1), attempt: 1 as never }],
  nodes: [nodeId("n1")],
  ...change,
});

describe("a preemption", () => {
  it("stops the victim, queues it with its submission time and without counting a requeue, and reserves its nodes", () => {
    const cluster = scene();
    const before = cluster.state.allocation(id(1));
    const { outcomes, effects, events } = cluster.apply(preempt(cluster.state.index));
    expect(outcomes).toEqual([{ kind: "accepted", id: "2" }]);
    const victim = cluster.state.allocation(id(1));
    expect(victim).toMatchObject({ requeues: 0, preemptions: 1, submittedAt: before?.submittedAt });
    expect(victim?.phase).toMatchObject({ kind: "pending", cause: "preempted" });
    expect(events[0]).toMatchObject({ to: "pending", reason: "preempted" });
    expect(events[0]?.message).toBe("stopped for allocation 2 of class 8 (priority)");
    expect(effects.filter((effect) => effect.kind === "stop")).toHaveLength(2);
    expect(cluster.state.allocation(id(2))?.phase).toMatchObject({ preemptedNodes: { nodes: ["n1"] } });
    expect(Array.from(cluster.state.awaiting(), ({ id: name }) => name)).toEqual(["2"]);
    expect(brokenInvariants(cluster.state)).toEqual([]);
  });

  it("ends when the preemptor starts, and the victim runs as another attempt", () => {
    const cluster = scene();
    cluster.apply(preempt(cluster.state.index));
    cluster.apply(report(1, "n1", "failed"), report(1, "n2", "failed"));
    place(cluster, "batch", 2, "n1");
    expect([...cluster.state.awaiting()]).toEqual([]);
    cluster.apply(report(2, "n1", "completed"));
    place(cluster, "other", 1, "n1", "n2");
    expect(cluster.state.allocation(id(1))).toMatchObject({ attempt: 2, requeues: 0, preemptions: 1 });
    expect(brokenInvariants(cluster.state)).toEqual([]);
  });

  it("fails a victim that must not be requeued", () => {
    const cluster = scene({ requeuePolicy: "never" });
    cluster.apply(preempt(cluster.state.index));
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "preempted" });
  });

  it("is rejected as stale when it is repeated", () => {
    const cluster = scene();
    const command = preempt(cluster.state.index);
    cluster.apply(command);
    expect(cluster.apply(command).outcomes[0]).toMatchObject({ kind: "rejected", refusal: { code: "stale_plan" } });
    expect(cluster.state.allocation(id(1))?.preemptions).toBe(1);
  });

  it.each([
    ["the victim has an equal class", {}, { preemptionClass: 2 }, {}, "class 2 is not below class 2"],
    ["the victim asked not to be preempted", { noPreempt: true }, {}, {}, "asked not to be stopped"],
    ["the victim has the highest class", { preemptionClass: 10 }, { preemptionClass: 10 }, {}, "highest class"],
    ["the victim's vCluster shields it", {}, {}, { preemptible: "never" as const }, "shields allocation 1"],
    [
      "the victim is a service of its own vCluster",
      {},
      {},
      { scheduler: "service_bin_pack" as const },
      "shields allocation 1",
    ],
    ["the victim is sensitive work", {}, {}, { scheduler: "sensitive_reservation" as const }, "is sensitive"],
  ])("is rejected when %s", (_, victim, winner, settings, why) => {
    const cluster = scene(victim, winner, settings);
    const { outcomes, effects } = cluster.apply(preempt(cluster.state.index));
    expect(outcomes[0]).toMatchObject({ kind: "rejected" });
    expect(JSON.stringify(outcomes[0])).toContain(why);
    expect(effects).toEqual([]);
    expect(cluster.phase(1)).toBe("staging");
  });

  it.each([
    ["too many victims", { victims: [1, 2, 3, 4].map((n) => ({ allocation: id(n), attempt: 1 as never })) }],
    ["the same victim twice", { victims: [1, 1].map((n) => ({ allocation: id(n), attempt: 1 as never })) }],
    ["no victim", { victims: [] }],
    ["another attempt", { victims: [{ allocation: id(1), attempt: 2 as never }] }],
    ["an unknown node", { nodes: [nodeId("n9")] }],
    ["nodes of another owner", { nodes: [] }],
    ["a basis from the future", { basis: logIndex(99) }],
    ["a basis before the preemptor waited", { basis: logIndex(1) }],
    ["an unknown preemptor", { allocation: id(77) }],
    ["a running preemptor", { allocation: id(1) }],
  ])("is rejected for %s and changes nothing", (_, change) => {
    const cluster = scene();
    const { outcomes, events } = cluster.apply(preempt(cluster.state.index, change));
    expect(outcomes[0]?.kind).toBe("rejected");
    expect(events).toEqual([]);
  });
});

describe("lending", () => {
  const lending = { keepNodes: 1, maxClass: 4, maxDuration: duration(100_000), returnGrace: duration(7_000) };

  function homes(lends: VCluster["lending"] = lending) {
    const cluster = createCluster();
    cluster.apply({
      kind: "vcluster.update",
      origin: origin(),
      vcluster: vclusterId("batch"),
      change: { lending: lends ?? null },
    });
    cluster.apply(vcluster("guest"), register("n1", HOME), register("n2", HOME));
    return cluster;
  }
  const guest = (lifecycle: object = {}) =>
    submit({ vcluster: "guest", lifecycle: { preemptionClass: 3, walltime: duration(50_000), ...lifecycle } });

  it("places guests on idle nodes on the owner's terms, and keeps the owner's reserve", () => {
    const cluster = homes();
    cluster.apply(guest(), guest());
    place(cluster, "guest", 1, "n1");
    expect(cluster.state.homeNodes(vclusterId("batch"))).toEqual({ home: 2, lent: 1 });
    expect(refusalOf(cluster, "guest", 2, "n2")).toContain("never lends");
  });

  it.each([
    ["a class above the limit", { preemptionClass: 5 }, "lends to class 4 and below"],
    ["a longer walltime", { walltime: duration(200_000) }, "at most 100 s"],
    ["work that cannot be preempted", { noPreempt: true }, "cannot be stopped"],
  ])("refuses %s", (_, lifecycle, why) => {
    const cluster = homes();
    cluster.apply(guest(lifecycle));
    expect(refusalOf(cluster, "guest", 1, "n1")).toContain(why);
  });

  it("requires that the owner lends", () => {
    const cluster = homes(null);
    cluster.apply(guest());
    expect(refusalOf(cluster, "guest", 1, "n1")).toContain("lends no nodes");
  });

  it("ends when the owner needs the node, with the grace that the owner grants", () => {
    const cluster = homes();
    cluster.apply(guest());
    place(cluster, "guest", 1, "n1");
    cluster.apply(submit({ nodes: 2, lifecycle: { preemptionClass: 5 } }));
    const { effects } = cluster.apply(preempt(cluster.state.index));
    expect(effects).toMatchObject([{ kind: "stop", node: "n1", reason: "preempted", grace: 7_000 }]);
    expect(cluster.state.node(nodeId("n1"))?.claims[0]).toMatchObject({ releasing: true, grace: 7_000 });
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({
      message: "stopped for allocation 2 of class 5 (reclaim)",
    });
  });
});
