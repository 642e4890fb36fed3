// The life of an allocation, step by step: its events and orders, from submission to the history.

import { attempt, type Command, duration } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  disable,
  drain,
  enable,
  health,
  hold,
  id,
  nodeId,
  register,
  reportOf,
  submit,
  undrain,
} from "../support/cluster.ts";
import { lines } from "../support/transcript.ts";

const nodes = ["n1", "n2", "n3"].map((name) => register(name));
const keep = (maxFinished: number): Command => ({
  kind: "retention.set",
  maxFinished,
  maxFinishedAge: duration(1_000_000_000),
});

describe("an allocation on two nodes", () => {
  it("starts with its last node, ends with its last node, and enters the history", () => {
    const c = createCluster(...nodes, keep(0));
    expect(lines(c.apply(submit({ nodes: 2 })))).toEqual([
      "tenant_changed (first submission)",
      "1: new > pending (submitted)",
    ]);
    expect(lines(c.place(1, "n1", "n2"))).toEqual(["1: pending > staging", "> run 1/1 on n1", "> run 1/1 on n2"]);
    expect(lines(c.report(1, "n1", "staging"))).toEqual([]);
    expect(lines(c.report(1, "n1", "running"))).toEqual([]);
    expect(lines(c.report(1, "n2", "running"))).toEqual(["1: staging > running"]);
    expect(lines(c.report(1, "n2", "completed"))).toEqual([]);
    expect(c.claims("n2")).toEqual(["1/1"]);
    expect(lines(c.report(1, "n1", "completed"))).toEqual([
      "n1 released by 1/1",
      "n2 released by 1/1",
      "1: running > completed",
      "> forget 1/1 on n1",
      "> forget 1/1 on n2",
      "> archive 1",
    ]);
    expect([c.phase(1), c.state.allocationCount, c.state.freeNodeCount]).toEqual(["absent", 0, 3]);
  });

  it("fails with the first failing node, and the other node is stopped and confirms", () => {
    const c = createCluster(...nodes, keep(0));
    c.apply(submit({ nodes: 2, lifecycle: { requeuePolicy: "never" } }));
    c.place(1, "n1", "n2");
    c.report(1, "n1", "running");
    c.report(1, "n2", "running");
    expect(lines(c.report(1, "n1", "failed"))).toEqual([
      "n1 released by 1/1",
      "1: running > failed (exit_code)",
      "> forget 1/1 on n1",
      "> stop 1/1 on n2 (exit_code)",
    ]);
    // It is final, but a node still has processes of it: it stays in the state.
    expect(c.claims("n2")).toEqual(["1/1 releasing"]);
    expect(lines(c.apply(reportOf(1, "n2", attempt(1), "running")))).toEqual(["! repeated"]);
    expect(lines(c.apply(reportOf(1, "n2", attempt(1), "completed")))).toEqual([
      "n2 released by 1/1",
      "> forget 1/1 on n2",
      "> archive 1",
    ]);
  });
});

describe("a node failure", () => {
  it("requeues the work at once, and the remaining node confirms before it is used again", () => {
    const c = createCluster(...nodes);
    c.apply(submit({ nodes: 2 }));
    c.place(1, "n1", "n2");
    c.report(1, "n1", "running");
    c.report(1, "n2", "running");
    expect(lines(c.apply(health("n1", "silent")))).toEqual([
      "n1: ready > down (silent)",
      "n1 released by 1/1",
      "1: running > pending (node_failure)",
      "notice raised (node_silent)",
      "> stop 1/1 on n2 (requeued)",
      "> stop 1/1 on n1 (node_failure)",
    ]);
    expect(lines(c.place(1, "n2", "n3"))).toEqual(["! node_unavailable", "1 not placed (node_unavailable)"]);
    expect(lines(c.apply(reportOf(1, "n2", attempt(1), "failed", "stopped")))).toEqual([
      "n2 released by 1/1",
      "> forget 1/1 on n2",
    ]);
    expect(lines(c.place(1, "n2", "n3"))).toEqual(["1: pending > staging", "> run 1/2 on n2", "> run 1/2 on n3"]);
    expect(c.state.allocation(id(1))).toMatchObject({ attempt: 2, requeues: 1 });
    // The agent comes back with a report about the attempt that was given up.
    expect(lines(c.apply(reportOf(1, "n1", attempt(1), "completed")))).toEqual(["! not_assigned"]);
    expect(lines(c.apply(health("n1", "heard")))).toEqual(["n1: down > ready", "notice cleared (node_silent)"]);
  });

  it("beyond the limit of requeues fails the work with the count", () => {
    const c = createCluster(...nodes);
    c.apply(submit({ lifecycle: { maxRequeue: 1 } }));
    c.place(1, "n1");
    c.apply(health("n1", "silent"));
    c.place(1, "n2");
    expect(lines(c.apply(health("n2", "silent")))).toContain("1: staging > failed (requeue_limit)");
    expect(c.state.allocation(id(1))?.phase).toMatchObject({
      message: 'requeued 1 of 1 times; node_failure: node "n2" is down (silent): heartbeats',
    });
  });
});

describe("a drain", () => {
  it("lets the work end, then the node is drained, and undrain returns it", () => {
    const c = createCluster(...nodes);
    c.apply(submit(), submit());
    c.place(1, "n1");
    c.report(1, "n1", "running");
    expect(lines(c.apply(drain("n1")))).toEqual(["n1: ready > draining (maintenance)"]);
    expect(lines(c.place(2, "n1"))).toEqual(["! node_unavailable", "2 not placed (node_unavailable)"]);
    expect(lines(c.report(1, "n1", "completed"))).toEqual([
      "n1 released by 1/1",
      "n1: draining > drained (maintenance)",
      "1: running > completed",
      "> forget 1/1 on n1",
    ]);
    expect(lines(c.apply(undrain("n1")))).toEqual(["n1: drained > ready"]);
    expect(lines(c.place(2, "n1"))).toContain("2: pending > staging");
  });

  it("that is interrupted by silence ends as drained when the node is heard", () => {
    const c = createCluster(...nodes);
    c.apply(submit());
    c.place(1, "n1");
    c.apply(drain("n1"));
    c.apply(health("n1", "silent"));
    expect(lines(c.apply(health("n1", "heard")))).toEqual([
      "n1: down > drained (drained before it was down)",
      "notice cleared (node_silent)",
    ]);
  });

  it("with urgency suspends work with checkpoints, which resumes elsewhere from its checkpoint", () => {
    const c = createCluster(...nodes);
    c.apply(submit({ checkpoint: {} }), submit());
    c.place(1, "n1");
    c.report(1, "n1", "running");
    expect(lines(c.apply(drain("n1", true)))).toEqual([
      "n1: ready > draining (maintenance)",
      "1: running > checkpointing (drained)",
      "> checkpoint 1/1 on n1",
    ]);
    const taken: Command = {
      ...(reportOf(1, "n1", attempt(1), "running") as Extract<Command, { kind: "attempt.report" }>),
      checkpoint: { n: 1, ok: true, bytes: 10, message: "" },
    };
    expect(lines(c.apply(taken))).toEqual([
      "checkpoint (taken)",
      "1: checkpointing > suspended (drained)",
      "> stop 1/1 on n1 (drained)",
    ]);
    expect(lines(c.apply(reportOf(1, "n1", attempt(1), "failed", "stopped")))).toEqual([
      "n1 released by 1/1",
      "n1: draining > drained (maintenance)",
      "1: suspended > pending (drained)",
      "> forget 1/1 on n1",
    ]);
    expect(lines(c.place(1, "n2"))).toEqual(["1: pending > staging", "> run 1/2 on n2"]);
  });
});

describe("a disabled node", () => {
  it("keeps its claims until its agent confirms, and only then can return to drained", () => {
    const c = createCluster(...nodes);
    c.apply(submit());
    c.place(1, "n1");
    c.apply(drain("n1"));
    expect(lines(c.apply(disable("n1")))).toEqual([
      "n1: draining > down (disabled)",
      "1: staging > pending (node_failure)",
      "> stop 1/1 on n1 (requeued)",
    ]);
    expect(c.claims("n1")).toEqual(["1/1 releasing"]);
    expect(lines(c.apply(enable("n1")))).toEqual(["! illegal_transition"]);
    c.apply(reportOf(1, "n1", attempt(1), "failed", "stopped"));
    expect(lines(c.apply(enable("n1")))).toEqual(["n1: down > drained (drained before it was down)"]);
  });

  it("that falls silent releases its unconfirmed claims", () => {
    const c = createCluster(...nodes);
    c.apply(submit());
    c.place(1, "n1");
    c.apply(disable("n1"));
    expect(lines(c.apply(health("n1", "silent")))).toEqual(["n1 released by 1/1"]);
    expect([c.nodeState("n1"), c.claims("n1")]).toEqual(["down", []]);
  });
});

describe("a hold", () => {
  it("keeps work from starting until its release, and an older plan is stale", () => {
    const c = createCluster(...nodes);
    c.apply(submit());
    const basis = c.state.index;
    expect(lines(c.apply(hold(1)))).toEqual(["1: pending > pending (held)"]);
    expect(lines(c.place(1, "n1"))).toEqual(["! stale_plan", "1 not placed (stale_plan)"]);
    c.advance(60_000);
    expect(lines(c.apply(hold(1, false)))).toEqual(["1: pending > pending (released)"]);
    expect(c.state.allocation(id(1))).toMatchObject({ eligibleAt: c.state.at, submittedAt: c.state.at - 60_000 });
    const old: Command = {
      kind: "plan.commit",
      vcluster: "batch" as never,
      basis,
      placements: [{ allocation: id(1), attempt: attempt(1), nodes: [nodeId("n1")], scores: {}, backfilled: false }],
    };
    expect(lines(c.apply(old))).toEqual(["! stale_plan", "1 not placed (stale_plan)"]);
    expect(lines(c.place(1, "n1"))).toEqual(["1: pending > staging", "> run 1/1 on n1"]);
  });
});

describe("retention", () => {
  it("archives the oldest finished records beyond the limit, in the order in which they finished", () => {
    const c = createCluster(...nodes, keep(1));
    c.apply(submit(), submit(), submit());
    expect(lines(c.apply(cancel(2)))).toEqual(["2: pending > cancelled (enough)"]);
    expect(lines(c.apply(cancel(3)))).toEqual(["3: pending > cancelled (enough)", "> archive 2"]);
    expect(lines(c.apply(cancel(1)))).toEqual(["1: pending > cancelled (enough)", "> archive 3"]);
    expect(Array.from(c.state.allocations(), (record) => record.id)).toEqual(["1"]);
    expect(lines(c.apply(keep(0)))).toEqual(["> archive 1"]);
  });
});
