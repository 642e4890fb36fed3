// Notes in the record of an allocation, in addition to its phases: requests of users, preemptions, and what it waits for.

import {
  backoffBefore,
  type Command,
  MAX_PAST_CHECKPOINT_NOTES,
  MAX_PAST_NOTES,
  type ReportCommand,
  snapshotLines,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  drain,
  id,
  nodeId,
  origin,
  plan,
  register,
  reportOf,
  type SpecChange,
  sha256,
  submit,
} from "./support/cluster.ts";

const ask: Command = { kind: "allocation.checkpoint", origin: origin(), id: id(1) };

/** On n1, its record being the first. */
function running(change: SpecChange = {}): Cluster {
  const cluster = createCluster(register("n1"), register("n2"));
  cluster.apply(submit({ checkpoint: {}, lifecycle: { preemptionClass: 2 }, ...change }));
  cluster.place(1, "n1");
  cluster.report(1, "n1", "running");
  return cluster;
}

function saveOn(cluster: Cluster, n: number): void {
  const attempt = cluster.state.allocation(id(1))?.attempt ?? (1 as never);
  const base = reportOf(1, "n1", attempt, "running") as ReportCommand;
  cluster.apply({ ...base, checkpoint: { n, ok: true, bytes: 5, message: "" } });
}

const notes = (cluster: Cluster, n = 1) =>
  (cluster.state.allocation(id(n))?.past?.notes ?? []).map(({ type, kind, text }) => `${type} ${kind}: ${text}`);

describe("notes", () => {
  it("name the user of a checkpoint request, the work that needed the nodes, and the restored checkpoint", () => {
    const c = running();
    c.apply(ask);
    saveOn(c, 1);
    c.apply(submit({ lifecycle: { preemptionClass: 8 } }));
    c.apply({
      kind: "allocation.preempt",
      allocation: id(2),
      basis: c.state.index,
      victims: [{ allocation: id(1), attempt: 1 as never }],
      nodes: [nodeId("n1")],
    });
    saveOn(c, 2);
    c.report(1, "n1", "completed");
    c.place(1, "n2");
    expect(notes(c)).toEqual([
      "state checkpoint_requested: Checkpoint 1 requested (user): requested by ada.",
      "state checkpoint_taken: Checkpoint 1 is complete (user).",
      "preemption checkpoint_requested: Checkpoint 2 requested (preempted), after which it makes room: stopped for allocation 2 of class 8 (priority).",
      "state checkpoint_taken: Checkpoint 2 is complete (preempted).",
      "state requeued: Queued again: its nodes have confirmed the cleanup.",
      "state resumed: It continues from checkpoint 2.",
    ]);
    expect(notes(c, 2)).toEqual([
      "preemption others_stopped: Allocation 1 makes room for it; 1 node is reserved for it.",
    ]);
    const indexes = c.state.allocation(id(1))?.past?.notes?.map(({ index }) => index ?? 0) ?? [];
    expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
    expect(indexes.every((index) => index > 0)).toBe(true);
  });

  it("name the backoff of a service, and its end", () => {
    const c = createCluster(register("n1"));
    c.apply(submit({ lifecycle: { kind: "unbounded", walltime: null, requeuePolicy: "always" } }));
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.report(1, "n1", "failed", "exit_code");
    c.advance(backoffBefore(1));
    c.apply({ kind: "allocation.end_backoff", allocation: id(1) });
    expect(notes(c)).toEqual([
      "decision held: It restarts after a backoff of 1 s.",
      "decision released: Its backoff is over; it is queued again.",
    ]);
  });

  it("name the wait for a VNI once, however often it is tried", () => {
    const c = createCluster(register("n1"), register("n2"));
    const settings = { ...c.state.network, vniStart: 1000, vniEnd: 1000 };
    c.apply({ kind: "network.set", settings }, submit({ domain: "one" }), submit({ domain: "two" }));
    c.place(1, "n1");
    for (let n = 0; n < 3; n += 1) {
      c.apply(plan(c.state, 2, ["n2"]));
      c.advance(5_000);
      c.apply({ kind: "allocation.end_backoff", allocation: id(2) });
    }
    expect(notes(c, 2)).toHaveLength(1);
    expect(notes(c, 2)[0]).toMatch(/^decision vni_wait: It waits for a network domain: /);
  });

  it("name the user of an update, and the drain of a node", () => {
    const c = running();
    c.apply({ kind: "allocation.update", origin: origin(), id: id(1), change: { name: "other", preemptionClass: 3 } });
    c.apply(drain("n1"));
    expect(notes(c)[0]).toBe("state updated: Updated by ada: name, preemption class.");
    expect(notes(c)[1]).toMatch(/^decision node_draining: Node n1 is being drained/);
  });

  it("of checkpoints do not displace other notes, and dropped ones are counted", () => {
    const c = running();
    c.apply({ kind: "allocation.update", origin: origin(), id: id(1), change: { name: "other" } });
    for (let n = 1; n <= MAX_PAST_NOTES; n += 1) {
      c.apply(ask);
      saveOn(c, n);
    }
    const past = c.state.allocation(id(1))?.past;
    const kinds = past?.notes?.map(({ kind }) => kind) ?? [];
    expect(kinds[0]).toBe("updated");
    expect(kinds).toHaveLength(1 + MAX_PAST_CHECKPOINT_NOTES);
    expect(past?.cut?.count).toBe(2 * MAX_PAST_NOTES - MAX_PAST_CHECKPOINT_NOTES);
    expect(past?.cut?.through).toBe((past?.notes?.[1]?.index ?? 0) - 1);
    expect([...snapshotLines(c.state, sha256)].join("")).toContain('"cut":{"count":96');
  });
});
