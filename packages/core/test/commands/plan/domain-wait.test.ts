// A placement that needs a network domain which cannot be created: the allocation waits with a reason and a pause, and
// the next placement of the plan starts all the same. Also the notes that a refused or resumed placement leaves.

import { type Allocation, attempt, type Command, DEFAULT_NETWORK, duration, logIndex } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  createCluster,
  hold,
  id,
  nodeId,
  register,
  submit,
  submitDag,
  vclusterId,
  verdict,
} from "../../support/cluster.ts";
import { eventsOf, placing, refusalIn } from "../../support/placing.ts";

const pool = (size: number): Command => ({
  kind: "network.set",
  settings: { ...DEFAULT_NETWORK, vniStart: 1000, vniEnd: 999 + size },
});

/** Members of a DAG are not checked for domains at submission: they may wait at their placement. */
function cluster(): Cluster {
  const c = createCluster(pool(1), ...["n1", "n2", "n3"].map((name) => register(name)));
  c.apply(submitDag({ a: { domain: "red" }, b: { domain: "blue" }, c: {} }));
  return c;
}

const record = (c: Cluster, n: number): Allocation => {
  const found = c.state.allocation(id(n));
  if (found === undefined) throw new Error(`there is no allocation ${n}`);
  return found;
};

describe("a placement without a free VNI", () => {
  it("leaves the allocation pending with a backoff of five seconds and the reason", () => {
    const c = cluster();
    expect(refusalIn(c.apply(placing(c, 2, ["n1"])))).toBeNull();
    const applied = c.apply(placing(c, 3, ["n2"]));
    const detail = 'cannot create network domain "blue": VNI pool exhausted (1/1 in use)';
    expect(refusalIn(applied)).toEqual({
      code: "quota_exceeded",
      detail,
      figures: { limit: 1, current: 1, requested: 1 },
    });
    expect(record(c, 3).phase).toMatchObject({
      kind: "pending",
      backoffUntil: c.state.at + 5000,
      backoffReason: detail,
    });
    expect(record(c, 3).past?.notes?.map(({ kind, text }) => [kind, text])).toEqual([
      ["vni_wait", `It waits for a network domain: ${detail}.`],
    ]);
    expect([c.claims("n2"), applied.effects]).toEqual([[], []]);
    expect(eventsOf(applied, "allocation_changed")).toMatchObject([
      { allocation: "3", from: "pending", to: "pending", reason: "vni_pool_exhausted", message: detail },
    ]);
    expect(eventsOf(applied, "placement_refused")).toEqual([]);
  });

  it("does not keep the next placement of the plan from starting", () => {
    const c = cluster();
    c.apply(placing(c, 2, ["n1"]));
    const [second] = placing(c, 3, ["n2"]).placements;
    const [third] = placing(c, 4, ["n3"]).placements;
    if (second === undefined || third === undefined) throw new Error("a plan is empty");
    c.apply({ kind: "plan.commit", vcluster: vclusterId("batch"), basis: c.state.index, placements: [second, third] });
    expect([c.phase(3), c.phase(4), c.claims("n3")]).toEqual(["pending", "staging", ["4/1"]]);
  });

  it("is noted once, however often it is tried", () => {
    const c = cluster();
    c.apply(placing(c, 2, ["n1"]));
    for (let n = 0; n < 3; n += 1) {
      c.apply(placing(c, 3, ["n2"]));
      c.advance(5000);
      expect(verdict(c.one({ kind: "allocation.end_backoff", allocation: id(3) }))).toBe("accepted");
    }
    expect(record(c, 3).past?.notes?.map(({ kind }) => kind)).toEqual(["vni_wait"]);
  });

  it("succeeds when a VNI is free again", () => {
    const c = cluster();
    c.apply(placing(c, 2, ["n1"]));
    c.apply(placing(c, 3, ["n2"]));
    c.apply(cancel(2));
    c.report(2, "n1", "failed", "stopped");
    c.advance(DEFAULT_NETWORK.grace);
    c.apply({ kind: "network.release", key: "physics/red" }, { kind: "allocation.end_backoff", allocation: id(3) });
    c.apply(placing(c, 3, ["n2"]));
    expect([c.phase(3), record(c, 3).network]).toEqual(["staging", { domain: "blue", vni: 1000 }]);
  });
});

describe("the refusal of a placement", () => {
  /** n9 does not exist. */
  const refused = (c: Cluster): readonly string[] => {
    c.apply({ ...placing(c, 1, ["n9"]), basis: logIndex(c.state.index) });
    return (record(c, 1).past?.refusals ?? []).map(({ code }) => code);
  };

  it("is in the record of an allocation that waits for nodes", () => {
    const c = createCluster(submit());
    expect(refused(c)).toEqual(["node_unavailable"]);
  });

  it("is not in the record of one that is on hold, has a backoff, or no longer waits", () => {
    const held = createCluster(submit());
    held.apply(hold(1));
    expect(refused(held)).toEqual([]);

    const running = createCluster(register("n1"), submit());
    running.place(1, "n1");
    expect(refused(running)).toEqual([]);

    const restarting = createCluster(register("n1"));
    restarting.apply(
      submit({ lifecycle: { kind: "unbounded", walltime: null, requeuePolicy: "always", maxRequeue: 9 } }),
    );
    restarting.place(1, "n1");
    restarting.report(1, "n1", "running");
    restarting.report(1, "n1", "failed");
    expect(refused(restarting)).toEqual([]);
    // The backoff is over, but the leader has not said so yet: the plan was early, and the record says so.
    restarting.advance(60_000);
    expect(refused(restarting)).toEqual(["stale_plan"]);
  });

  it("of an unknown allocation is an event only", () => {
    const c = createCluster(register("n1"));
    const applied = c.apply(placing(c, 99, ["n1"]));
    expect(eventsOf(applied, "placement_refused")).toMatchObject([{ allocation: "99", reason: "unknown_allocation" }]);
    expect(c.state.allocationCount).toBe(0);
  });
});

describe("a placement after a checkpoint", () => {
  it("names the checkpoint from which the work continues", () => {
    const c = createCluster(register("n1"), register("n2"));
    c.apply(submit({ checkpoint: {}, lifecycle: { requeuePolicy: "always", maxRequeue: 3 } }));
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.apply({ kind: "attempt.checkpoint", allocation: id(1), attempt: attempt(1), cause: "drained", message: "" });
    c.advance(duration(1000));
    c.apply({
      kind: "attempt.report",
      node: nodeId("n1"),
      allocation: id(1),
      attempt: attempt(1),
      state: "running",
      exitCode: null,
      reason: null,
      message: "",
      checkpoint: { n: 1, ok: true, bytes: 7, message: "" },
    });
    c.report(1, "n1", "failed", "stopped");
    c.place(1, "n2");
    const notes = record(c, 1).past?.notes ?? [];
    expect(notes.at(-1)).toMatchObject({ kind: "resumed", text: "It continues from checkpoint 1.", attempt: 2 });
  });

  it("names no checkpoint for work without one", () => {
    const c = createCluster(register("n1"), submit());
    c.place(1, "n1");
    expect(record(c, 1).past).toBeUndefined();
  });
});
