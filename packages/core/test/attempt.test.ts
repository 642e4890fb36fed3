// Reports, expiry and requeue: how reports about an attempt change the phase of an allocation.

import { attempt, type Command, duration, type FailureReason, type RequeuePolicy } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  id,
  moves,
  orders,
  origin,
  register,
  reportOf,
  submit,
  tenant,
  verdict,
} from "./support/cluster.ts";

const twoNodes = (change: Parameters<typeof submit>[0] = {}) => {
  const c = createCluster(register("n1"), register("n2"), submit({ nodes: 2, ...change }));
  c.place(1, "n1", "n2");
  return c;
};
const requeue = (n: number, expectedRequeues: number): Command => ({
  kind: "allocation.requeue",
  allocation: id(n),
  expectedRequeues,
  cause: "node_failure",
});

describe("attempt.report", () => {
  it("moves the allocation when the last node reports: running, then completed", () => {
    const c = twoNodes();
    expect(moves(c.report(1, "n1", "staging"))).toEqual([]);
    expect(moves(c.report(1, "n1", "running"))).toEqual([]);
    expect(c.phase(1)).toBe("staging");
    expect(moves(c.report(1, "n2", "running"))).toEqual(["1: staging > running"]);
    c.advance(5);
    expect(moves(c.report(1, "n1", "completed"))).toEqual([]);
    expect(c.claims("n1")).toEqual(["1/1"]);
    const last = c.report(1, "n2", "completed");
    expect(moves(last)).toEqual(["1: running > completed"]);
    expect(orders(last)).toEqual(["forget 1/1 on n1", "forget 1/1 on n2"]);
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ exitCode: 0, startedAt: 1_000_000, endedAt: 1_000_005 });
    expect(c.state.freeNodeCount).toBe(2);
  });

  it("passes through running before completed, even when no node reported running", () => {
    const c = twoNodes();
    c.report(1, "n1", "completed");
    expect(moves(c.report(1, "n2", "completed"))).toEqual(["1: staging > running", "1: running > completed"]);
  });

  it("of a failure fails the whole allocation, releases the ended nodes and stops the others", () => {
    const c = createCluster(register("n1"), register("n2"), register("n3"), submit({ nodes: 3 }));
    c.place(1, "n1", "n2", "n3");
    c.report(1, "n1", "completed");
    const failed = c.report(1, "n2", "failed", "signal");
    expect(orders(failed)).toEqual(["forget 1/1 on n1", "forget 1/1 on n2", "stop 1/1 on n3"]);
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "signal", exitCode: 1 });
    expect([c.claims("n1"), c.claims("n2"), c.claims("n3")]).toEqual([[], [], ["1/1 releasing"]]);
  });

  it("is accepted once, only forwards, and only from an assigned node", () => {
    const c = twoNodes();
    c.report(1, "n1", "running");
    expect(verdict(c.report(1, "n1", "running").outcomes[0])).toBe("repeated");
    expect(verdict(c.report(1, "n1", "staging").outcomes[0])).toBe("stale_report");
    expect(verdict(c.one(reportOf(1, "n1", attempt(2), "running")))).toBe("not_assigned");
    expect(verdict(c.one(reportOf(1, "n3", attempt(1), "running")))).toBe("not_assigned");
    expect(verdict(c.one(reportOf(9, "n1", attempt(1), "running")))).toBe("not_assigned");
    c.report(1, "n1", "completed");
    expect(verdict(c.report(1, "n1", "failed").outcomes[0])).toBe("stale_report");
    expect(c.phase(1)).toBe("staging");
  });

  it("never revives a cancelled allocation", () => {
    const c = twoNodes();
    c.apply(cancel(1));
    expect(verdict(c.report(1, "n1", "running").outcomes[0])).toBe("repeated");
    const late = c.report(1, "n1", "completed");
    expect(orders(late)).toEqual(["forget 1/1 on n1"]);
    expect(late.events).toMatchObject([{ kind: "claim_released", node: "n1" }]);
    expect(c.phase(1)).toBe("cancelled");
    expect(verdict(c.report(1, "n1", "completed").outcomes[0])).toBe("not_assigned");
  });

  const policies: readonly [RequeuePolicy, FailureReason, string][] = [
    ["never", "lost", "failed"],
    ["on_node_failure", "lost", "pending"],
    ["on_node_failure", "launch_failed", "pending"],
    ["on_node_failure", "node_failure", "pending"],
    ["on_node_failure", "exit_code", "failed"],
    ["always", "exit_code", "pending"],
    ["always", "signal", "pending"],
    ["always", "stopped", "failed"],
    ["always", "walltime_exceeded", "failed"],
  ];
  it.each(policies)("with the policy %s and the reason %s leaves the allocation %s", (requeuePolicy, reason, phase) => {
    const c = twoNodes({ lifecycle: { requeuePolicy } });
    const applied = c.report(1, "n1", "failed", reason);
    expect(moves(applied)).toEqual([`1: staging > ${phase}`]);
    expect(c.claims("n2")).toEqual(["1/1 releasing"]);
    expect(c.state.allocation(id(1))?.requeues).toBe(phase === "pending" ? 1 : 0);
  });

  it("requeues in one move, keeps the submission time, and fails at the limit", () => {
    const c = createCluster(register("n1"), submit({ lifecycle: { maxRequeue: 1 } }), submit());
    c.place(1, "n1");
    c.advance(1000);
    c.report(1, "n1", "failed", "lost");
    expect(c.state.allocation(id(1))).toMatchObject({
      submittedAt: 1_000_000,
      requeues: 1,
      pendingSinceIndex: c.state.index,
      phase: { kind: "pending", since: 1_001_000, cause: "node_failure" },
    });
    expect([...c.state.pending(c.state.allocation(id(1))?.spec.vcluster ?? ("" as never))].map((a) => a.id)).toEqual([
      "1",
      "2",
    ]);
    c.place(1, "n1");
    c.report(1, "n1", "failed", "lost");
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "requeue_limit" });
  });
});

describe("allocation.cancel", () => {
  it("ends pending and placed allocations", () => {
    const c = twoNodes();
    c.apply(submit());
    expect(moves(c.apply(cancel(2)))).toEqual(["2: pending > cancelled"]);
    const applied = c.apply(cancel(1));
    expect(moves(applied)).toEqual(["1: staging > cancelled"]);
    expect(orders(applied)).toEqual(["stop 1/1 on n1", "stop 1/1 on n2"]);
    expect(verdict(c.one(cancel(1)))).toBe("repeated");
  });
  it("names the final phase of a finished allocation", () => {
    const c = createCluster(register("n1"), submit());
    c.place(1, "n1");
    c.report(1, "n1", "completed");
    expect(c.one(cancel(1))).toMatchObject({
      refusal: { code: "illegal_transition", detail: "allocation 1 is already completed" },
    });
    expect(verdict(c.one(cancel(77)))).toBe("unknown_allocation");
  });
});

describe("attempt.expire", () => {
  const expire = (n: number, tries = 1): Command => ({
    kind: "attempt.expire",
    allocation: id(n),
    attempt: attempt(tries),
  });
  it("fails a placed attempt after its walltime", () => {
    const c = twoNodes({ lifecycle: { walltime: duration(1000), requeuePolicy: "always" } });
    expect(verdict(c.one(expire(1)))).toBe("stale_report");
    c.advance(1000);
    expect(verdict(c.one(expire(1, 2)))).toBe("stale_report");
    const applied = c.apply(expire(1));
    expect(orders(applied)).toEqual(["stop 1/1 on n1", "stop 1/1 on n2"]);
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "walltime_exceeded" });
    expect(verdict(c.one(expire(1)))).toBe("repeated");
    expect(verdict(c.one(expire(5)))).toBe("unknown_allocation");
  });
  it("leaves services and pending allocations unchanged", () => {
    const c = createCluster(register("n1"), submit({ lifecycle: { kind: "unbounded", walltime: null } }), submit());
    c.place(1, "n1");
    c.advance(1e9);
    expect(verdict(c.one(expire(1)))).toBe("illegal_transition");
    expect(verdict(c.one(expire(2, 0)))).toBe("illegal_transition");
  });
});

describe("allocation.requeue", () => {
  it("counts once when two reconcilers ask", () => {
    const c = twoNodes();
    const applied = c.apply(requeue(1, 0), requeue(1, 0));
    expect(applied.outcomes.map(verdict)).toEqual(["accepted", "stale_report"]);
    expect(moves(applied)).toEqual(["1: staging > pending"]);
    expect(orders(applied)).toEqual(["stop 1/1 on n1", "stop 1/1 on n2"]);
  });
  it("fails an allocation that must not be requeued, and is refused for an unplaced one", () => {
    const never = twoNodes({ lifecycle: { requeuePolicy: "never" } });
    never.apply(requeue(1, 0));
    expect(never.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "node_failure" });
    const limit = twoNodes({ lifecycle: { maxRequeue: 0 } });
    limit.apply(requeue(1, 0));
    expect(limit.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "requeue_limit" });
    expect(verdict(limit.one(requeue(1, 0)))).toBe("illegal_transition");
    expect(verdict(limit.one(requeue(8, 0)))).toBe("unknown_allocation");
  });
  it("makes older plans for the allocation stale (E8)", () => {
    const c = createCluster(register("n1"), register("n2"), submit());
    c.place(1, "n1");
    const basis = c.state.index;
    c.apply(requeue(1, 0));
    const placement = { allocation: id(1), attempt: attempt(2), nodes: ["n2" as never], scores: {}, backfilled: false };
    const old: Command = { kind: "plan.commit", vcluster: "batch" as never, basis, placements: [placement] };
    expect(verdict(c.one(old))).toBe("stale_plan");
    expect(verdict(c.place(1, "n2").outcomes[0])).toBe("accepted");
    expect(c.claims("n1")).toEqual(["1/1 releasing"]);
    expect(c.claims("n2")).toEqual(["1/2"]);
  });
});

describe("allocation.update", () => {
  const update = (change: Extract<Command, { kind: "allocation.update" }>["change"], n = 1): Command => ({
    kind: "allocation.update",
    origin: { user: "ada" as never, requestId: null, bodyHash: "" },
    id: id(n),
    change,
  });
  it("changes only the named fields, and repeats the run orders for a new walltime", () => {
    const c = twoNodes();
    const applied = c.apply(update({ walltime: duration(7_200_000), name: "new" }));
    expect(orders(applied)).toEqual(["run 1/1 on n1", "run 1/1 on n2"]);
    expect(c.state.allocation(id(1))?.spec).toMatchObject({
      name: "new",
      lifecycle: { walltime: 7_200_000, maxRequeue: 3 },
    });
    expect(c.apply(update({ tags: { a: "b" }, preemptionClass: 6 })).effects).toEqual([]);
    expect(verdict(c.one(update({ name: "new" })))).toBe("repeated");
  });
  it("respects limits and the time already used", () => {
    const c = createCluster(tenant("physics", {}, 5), register("n1"), submit());
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.advance(10_000);
    expect(verdict(c.one(update({ walltime: duration(10_000) })))).toBe("invalid_argument");
    expect(verdict(c.one(update({ preemptionClass: 6 })))).toBe("invalid_argument");
    expect(verdict(c.one(update({ name: "\0" })))).toBe("invalid_argument");
    expect(verdict(c.one(update({}, 9)))).toBe("unknown_allocation");
    const vcluster = c.state.allocation(id(1))?.spec.vcluster ?? ("" as never);
    const before = c.state.allocation(id(1))?.spec;
    const change = { maxWalltime: duration(20_000), defaultWalltime: duration(20_000) };
    expect(verdict(c.one({ kind: "vcluster.update", origin: origin(), vcluster, change }))).toBe("accepted");
    const tooLong = c.one(update({ walltime: duration(20_001) }));
    expect(verdict(tooLong)).toBe("invalid_argument");
    expect(JSON.stringify(tooLong)).toContain("allows at most 20 s, requested 20.001 s");
    expect(c.state.allocation(id(1))?.spec).toEqual(before);
    expect(verdict(c.one(update({ walltime: duration(20_000) })))).toBe("accepted");
    c.report(1, "n1", "completed");
    expect(verdict(c.one(update({ name: "x" })))).toBe("illegal_transition");
  });
});
