// Checkpoints in the log: the request, the answer of each node, success or failure, and the consequences.

import {
  beginRestore,
  type CheckpointResult,
  type Command,
  duration,
  type FailureReason,
  type ReportCommand,
  snapshotLines,
  stateHash,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { brokenInvariants } from "./invariants/broken-invariants.ts";
import {
  type Cluster,
  createCluster,
  drain,
  id,
  moves,
  nodeId,
  orders,
  origin,
  register,
  reportOf,
  type SpecChange,
  sha256,
  submit,
  verdict,
} from "./support/cluster.ts";

const ask = (n = 1): Command => ({ kind: "allocation.checkpoint", origin: origin(), id: id(n) });
const resume = (n = 1): Command => ({ kind: "allocation.resume", origin: origin(), id: id(n) });
const broker = (cause: "broker" | "drained" | "walltime" = "broker", attempt = 1): Command => ({
  kind: "attempt.checkpoint",
  allocation: id(1),
  attempt: attempt as never,
  cause,
  message: "it pays",
});
const preempt = (cluster: Cluster, force = false): Command => ({
  kind: "allocation.preempt",
  allocation: id(2),
  basis: cluster.state.index,
  victims: [{ allocation: id(1), attempt: 1 as never, ...(force ? { force } : {}) }],
  nodes: [nodeId("n1")],
});

/** Two nodes, on which allocation 1 runs. */
function running(change: SpecChange = {}): Cluster {
  const cluster = createCluster(register("n1"), register("n2"));
  cluster.apply(submit({ nodes: 2, checkpoint: {}, lifecycle: { preemptionClass: 2 }, ...change }));
  cluster.place(1, "n1", "n2");
  for (const node of ["n1", "n2"]) cluster.report(1, node, "running");
  return cluster;
}

function waitingAbove(change: SpecChange = {}): Cluster {
  const cluster = running(change);
  cluster.apply(submit({ nodes: 1, lifecycle: { preemptionClass: 8 } }));
  return cluster;
}

const GOOD: CheckpointResult = { n: 1, ok: true, bytes: 50, message: "" };
const BAD: CheckpointResult = { n: 1, ok: false, bytes: 0, message: "the disk is full" };

function say(cluster: Cluster, node: string, word: CheckpointResult | null, state: ReportCommand["state"] = "running") {
  return sayEnd(cluster, node, word, { state, reason: "exit_code" });
}

function sayEnd(
  cluster: Cluster,
  node: string,
  word: CheckpointResult | null,
  { state, reason }: { readonly state: ReportCommand["state"]; readonly reason: FailureReason },
) {
  const attempt = cluster.state.allocation(id(1))?.attempt ?? (1 as never);
  const base = reportOf(1, node, attempt, state, reason) as ReportCommand;
  return cluster.apply(word === null ? base : { ...base, checkpoint: word });
}

describe("a checkpoint request", () => {
  it("orders each node once, and the allocation continues when all nodes have saved", () => {
    const cluster = running();
    const asked = cluster.apply(ask());
    expect(orders(asked)).toEqual(["checkpoint 1/1 on n1", "checkpoint 1/1 on n2"]);
    expect(moves(asked)).toEqual(["1: running > checkpointing"]);
    expect(asked.events[0]).toMatchObject({ reason: "user", message: "requested by ada" });
    expect(verdict(cluster.one(ask()))).toBe("repeated");
    cluster.advance(4_000);
    say(cluster, "n1", GOOD);
    expect(cluster.phase(1)).toBe("checkpointing");
    expect(verdict(say(cluster, "n1", GOOD).outcomes[0])).toBe("repeated");
    const complete = say(cluster, "n2", GOOD);
    expect(moves(complete)).toEqual(["1: checkpointing > running"]);
    expect(complete.events[0]).toMatchObject({ kind: "checkpoint", reason: "taken" });
    const last = { n: 1, attempt: 1, bytes: 100, took: 4_000, cause: "user" };
    expect(cluster.state.allocation(id(1))?.checkpoints).toMatchObject({ asked: 1, taken: 1, last });
    expect(cluster.state.allocation(id(1))?.phase).not.toHaveProperty("request");
  });

  it.each([
    ["an allocation without checkpoints", { checkpoint: undefined } as unknown as SpecChange, "takes no checkpoints"],
    ["an unknown allocation", null, "there is no allocation"],
  ])("is refused for %s", (_, change, words) => {
    const cluster = change === null ? createCluster() : createCluster(register("n1"));
    if (change !== null) cluster.apply(submit());
    const outcome = cluster.one(ask());
    expect(outcome.kind === "rejected" ? outcome.refusal.detail : "").toContain(words);
  });

  it("is refused before the allocation runs, and for another attempt", () => {
    const cluster = createCluster(register("n1"));
    cluster.apply(submit({ checkpoint: {} }));
    expect(verdict(cluster.one(ask()))).toBe("illegal_transition");
    cluster.place(1, "n1");
    expect(verdict(cluster.one(ask()))).toBe("illegal_transition");
    expect(verdict(cluster.one(broker("broker", 7)))).toBe("stale_report");
  });

  it("that fails on one node leaves the allocation running with its last checkpoint", () => {
    const cluster = running();
    cluster.apply(ask());
    for (const node of ["n1", "n2"]) say(cluster, node, GOOD);
    cluster.apply(ask());
    const failed = say(cluster, "n2", { ...BAD, n: 2 });
    expect(moves(failed)).toEqual(["1: checkpointing > running"]);
    const { checkpoints } = cluster.state.allocation(id(1)) ?? {};
    expect(checkpoints).toMatchObject({ asked: 2, taken: 1, last: { n: 1 }, failure: { n: 2 } });
    expect(checkpoints?.failure?.message).toBe("node n2: the disk is full");
    // The other node's word comes too late to matter.
    expect(verdict(say(cluster, "n1", { ...GOOD, n: 2 }).outcomes[0])).toBe("repeated");
  });

  it("expires once, and the allocation continues", () => {
    const cluster = running();
    cluster.apply(ask());
    const expire: Command = { kind: "checkpoint.expire", allocation: id(1), attempt: 1 as never, n: 1 };
    expect(verdict(cluster.one({ ...expire, attempt: 3 as never }))).toBe("stale_report");
    expect(verdict(cluster.one(expire))).toBe("accepted");
    expect(cluster.phase(1)).toBe("running");
    expect(verdict(cluster.one(expire))).toBe("repeated");
  });

  it("does not keep an allocation from completing", () => {
    const cluster = running();
    cluster.apply(ask());
    say(cluster, "n1", null, "completed");
    expect(moves(say(cluster, "n2", null, "completed"))).toEqual([
      "1: checkpointing > running",
      "1: running > completed",
    ]);
  });
});

describe("the checkpoint of an ended allocation", () => {
  const cancel: Command = { kind: "allocation.cancel", origin: origin(), id: id(1), reason: "" };
  const cleared: Command = { kind: "checkpoint.cleared", allocations: [id(1), id(99)] };

  it("without nodes is listed for removal with its nodes, until a node accepts the removal", () => {
    const cluster = waitingAbove();
    cluster.apply(preempt(cluster));
    for (const node of ["n1", "n2"]) say(cluster, node, GOOD);
    expect(cluster.phase(1)).toBe("suspended");
    cluster.apply(cancel);
    const noted = { allocation: id(1), tenant: "physics", user: "ada", nodes: ["n1", "n2"] };
    expect([...cluster.state.clearings()]).toMatchObject([noted]);
    const restore = beginRestore(sha256);
    for (const line of snapshotLines(cluster.state, sha256)) restore.line(line);
    expect([...restore.finish().clearings()]).toEqual([...cluster.state.clearings()]);
    expect(verdict(cluster.one(cleared))).toBe("accepted");
    expect([...cluster.state.clearings()]).toEqual([]);
    expect(verdict(cluster.one(cleared))).toBe("repeated");
  });

  it("with nodes is listed for removal once it was requested, and not before", () => {
    const asked = running();
    asked.apply(ask());
    asked.apply(cancel);
    expect([...asked.state.clearings()]).toMatchObject([{ allocation: id(1), nodes: ["n1", "n2"] }]);
    const plain = running();
    plain.apply(cancel);
    expect([...plain.state.clearings()]).toEqual([]);
  });
});

describe("preemption with a checkpoint", () => {
  it("requests it, suspends at the last answer, and queues the victim when the nodes are released", () => {
    const cluster = waitingAbove();
    const before = cluster.state.allocation(id(1))?.submittedAt;
    expect(orders(cluster.apply(preempt(cluster)))).toEqual(["checkpoint 1/1 on n1", "checkpoint 1/1 on n2"]);
    expect(cluster.state.allocation(id(2))?.phase).toMatchObject({ preemptedNodes: { nodes: ["n1"] } });
    // No allocation is asked twice for the same nodes.
    expect(verdict(cluster.one(preempt(cluster)))).toBe("stale_plan");
    say(cluster, "n1", GOOD);
    const suspended = say(cluster, "n2", GOOD);
    expect(moves(suspended)).toEqual(["1: checkpointing > suspended"]);
    expect(suspended.effects).toContainEqual(expect.objectContaining({ kind: "stop", node: "n1", grace: 5_000 }));
    expect(cluster.claims("n1")).toEqual(["1/1 releasing"]);
    say(cluster, "n1", null, "failed");
    expect(cluster.phase(1)).toBe("suspended");
    expect(moves(say(cluster, "n2", null, "failed"))).toEqual(["1: suspended > pending"]);
    expect(cluster.state.allocation(id(1))).toMatchObject({ submittedAt: before, preemptions: 1, requeues: 0 });
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({ cause: "preempted" });
    cluster.place(2, "n1");
    cluster.report(2, "n1", "completed");
    cluster.place(1, "n1", "n2");
    expect(cluster.state.allocation(id(1))).toMatchObject({ attempt: 2, checkpoints: { last: { n: 1 } } });
  });

  it("suspends a program that exits after saving, whatever its exit status", () => {
    const cluster = waitingAbove();
    cluster.apply(preempt(cluster));
    say(cluster, "n1", GOOD, "failed");
    expect(cluster.phase(1)).toBe("checkpointing");
    expect(moves(say(cluster, "n2", GOOD, "completed"))).toEqual([
      "1: checkpointing > suspended",
      "1: suspended > pending",
    ]);
    expect(cluster.claims("n1")).toEqual([]);
  });

  it("uses a checkpoint that is already in progress", () => {
    const cluster = waitingAbove();
    cluster.apply(ask());
    say(cluster, "n1", GOOD);
    expect(verdict(cluster.one(preempt(cluster)))).toBe("accepted");
    say(cluster, "n2", GOOD);
    expect(cluster.phase(1)).toBe("suspended");
    expect(cluster.state.allocation(id(1))?.checkpoints?.last).toMatchObject({ n: 1, cause: "preempted" });
  });

  it.each([
    ["a node cannot", (cluster: Cluster) => say(cluster, "n1", BAD)],
    ["the program ends without one", (cluster: Cluster) => say(cluster, "n1", null, "failed")],
    [
      "it takes too long",
      (cluster: Cluster) => cluster.apply({ kind: "checkpoint.expire", allocation: id(1), attempt: 1 as never, n: 1 }),
    ],
  ])("stops the victim without one when %s", (_, spoil) => {
    const cluster = waitingAbove();
    cluster.apply(preempt(cluster));
    const { events } = spoil(cluster);
    expect(cluster.phase(1)).toBe("pending");
    expect(cluster.state.allocation(id(1))).toMatchObject({ preemptions: 1, requeues: 0 });
    expect(events.find(({ to }) => to === "pending")?.message).toContain("its checkpoint failed");
  });

  it("fails a victim that must not be requeued, and stops at once where it is forced", () => {
    const never = waitingAbove({ lifecycle: { preemptionClass: 2, requeuePolicy: "never" } });
    never.apply(preempt(never));
    say(never, "n1", BAD);
    expect(never.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "preempted" });
    const forced = waitingAbove();
    expect(orders(forced.apply(preempt(forced, true)))).toEqual(["stop 1/1 on n1", "stop 1/1 on n2"]);
    expect(forced.phase(1)).toBe("pending");
  });

  it("ends when the victim is cancelled or loses a node", () => {
    const cancelled = waitingAbove();
    cancelled.apply(preempt(cancelled));
    for (const node of ["n1", "n2"]) say(cancelled, node, GOOD);
    cancelled.apply({ kind: "allocation.cancel", origin: origin(), id: id(1), reason: "" });
    say(cancelled, "n1", null, "failed");
    say(cancelled, "n2", null, "failed");
    expect(cancelled.phase(1)).toBe("cancelled");
    const lost = waitingAbove();
    lost.apply(preempt(lost));
    lost.apply({ kind: "node.health", node: nodeId("n1"), verdict: "silent", reason: "" });
    expect(lost.phase(1)).toBe("pending");
  });
});

describe("the walltime", () => {
  const OVER = { state: "failed", reason: "walltime_exceeded" } as const;

  it("suspends an allocation whose checkpoint completed within the grace, and the user can resume it", () => {
    const cluster = running();
    cluster.apply(ask());
    sayEnd(cluster, "n1", GOOD, OVER);
    expect(cluster.phase(1)).toBe("checkpointing");
    sayEnd(cluster, "n2", GOOD, OVER);
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({ kind: "suspended", cause: "walltime" });
    expect(cluster.state.allocation(id(1))).toMatchObject({ suspensions: 1 });
    expect(verdict(cluster.one(resume()))).toBe("accepted");
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({ kind: "pending", cause: "resumed" });
    expect(verdict(cluster.one(resume()))).toBe("illegal_transition");
  });

  it("is preceded by a request to save and stop, which suspends the allocation", () => {
    const cluster = running();
    expect(moves(cluster.apply(broker("walltime")))).toEqual(["1: running > checkpointing"]);
    for (const node of ["n1", "n2"]) say(cluster, node, GOOD);
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({ kind: "suspended", cause: "walltime" });
    const again = cluster.apply(resume());
    expect(verdict(again.outcomes[0])).toBe("illegal_transition");
    for (const node of ["n1", "n2"]) cluster.report(1, node, "failed");
    expect(verdict(cluster.one(resume()))).toBe("accepted");
  });

  it("leaves the rest of it to a program that could not save when asked", () => {
    const cluster = running();
    cluster.apply(broker("walltime"));
    expect(moves(say(cluster, "n1", BAD))).toEqual(["1: checkpointing > running"]);
    expect(cluster.state.allocation(id(1))?.checkpoints?.failure?.message).toContain("the disk is full");
    sayEnd(cluster, "n1", null, OVER);
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "walltime_exceeded" });
  });

  it("ends an allocation that has ended on one node and could not save on another", () => {
    const cluster = running();
    cluster.apply(broker("walltime"));
    say(cluster, "n1", GOOD, "failed");
    expect(moves(say(cluster, "n2", BAD))).toEqual(["1: checkpointing > failed"]);
  });

  it("suspends an allocation with an earlier complete checkpoint", () => {
    const cluster = running();
    cluster.apply(ask());
    for (const node of ["n1", "n2"]) say(cluster, node, GOOD);
    expect(moves(sayEnd(cluster, "n2", null, OVER))).toEqual(["1: running > suspended"]);
    expect(cluster.state.allocation(id(1))).toMatchObject({ suspensions: 1, checkpoints: { last: { n: 1 } } });
    expect(brokenInvariants(cluster.state)).toEqual([]);
  });

  it("fails an allocation whose only checkpoint is incomplete", () => {
    const cluster = running();
    cluster.apply(ask());
    sayEnd(cluster, "n1", GOOD, OVER);
    sayEnd(cluster, "n2", null, OVER);
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", reason: "walltime_exceeded" });
  });
});

describe("an urgent drain", () => {
  it("suspends allocations that can take a checkpoint, and lets the others run to their end", () => {
    const cluster = running();
    cluster.apply(register("n3"), submit());
    cluster.place(2, "n3");
    cluster.report(2, "n3", "running");
    cluster.apply(drain("n1", true), drain("n3", true));
    expect([cluster.phase(1), cluster.phase(2)]).toEqual(["checkpointing", "running"]);
    for (const node of ["n1", "n2"]) say(cluster, node, GOOD, "failed");
    expect(cluster.nodeState("n1")).toBe("drained");
    expect(cluster.state.allocation(id(1))?.phase).toMatchObject({ kind: "pending", cause: "drained" });
    expect(cluster.state.allocation(id(1))).toMatchObject({ suspensions: 1, requeues: 0 });
  });

  it("can follow an ordinary drain", () => {
    const cluster = running();
    cluster.apply(drain("n1"));
    expect(cluster.phase(1)).toBe("running");
    expect(verdict(cluster.one(drain("n1", true)))).toBe("accepted");
    expect(cluster.phase(1)).toBe("checkpointing");
    expect(verdict(cluster.one(drain("n1", true)))).toBe("repeated");
  });
});

describe("checkpoints", () => {
  it("are part of snapshots, in every phase", () => {
    const cluster = waitingAbove();
    const check = (): void => {
      const restore = beginRestore(sha256);
      for (const line of snapshotLines(cluster.state, sha256)) restore.line(line);
      const restored = restore.finish();
      expect(brokenInvariants(restored)).toEqual([]);
      expect(stateHash(restored, sha256)).toBe(stateHash(cluster.state, sha256));
    };
    cluster.apply(preempt(cluster));
    check();
    for (const node of ["n1", "n2"]) say(cluster, node, GOOD);
    check();
  });

  it.each([
    [{ mode: "smoke" as never }, "allocation.checkpoint.mode"],
    [{ mode: "grpc", port: 70_000 } as const, "allocation.checkpoint.port"],
    [{ port: 80 }, "allocation.checkpoint.port"],
    [{ timeout: duration(0) }, "allocation.checkpoint.timeout_seconds"],
    [{ maxDeferral: duration(1e9) }, "allocation.checkpoint.max_deferral_seconds"],
  ])("are refused at submission: %o", (checkpoint, field) => {
    const outcome = createCluster().one(submit({ checkpoint }));
    expect(outcome.kind === "rejected" ? outcome.refusal.fields?.map((one) => one.field) : []).toEqual([field]);
  });
});
