// A failed prologue: the allocation is placed elsewhere, the node is excluded for it, and the tries are limited.

import {
  attempt,
  beginRestore,
  type Command,
  MAX_PROLOGUE_RETRIES,
  placementConstraints,
  snapshotLines,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  createCluster,
  id,
  moves,
  nodeId,
  plan,
  register,
  reportOf,
  sha256,
  submit,
  vcluster,
  vclusterId,
} from "./support/cluster.ts";

const FIVE = ["n1", "n2", "n3", "n4", "n5"];
const five = (...more: Parameters<typeof submit>) =>
  createCluster(...FIVE.map((name) => register(name)), submit(...more));

describe("a failed prologue", () => {
  it("queues the allocation without counting a requeue, whatever its policy, and excludes the node for it", () => {
    const c = five({ lifecycle: { requeuePolicy: "never", maxRequeue: 0 } });
    c.place(1, "n1");
    expect(moves(c.report(1, "n1", "failed", "prologue_failed"))).toEqual(["1: staging > pending"]);
    const record = c.state.allocation(id(1));
    expect(record).toMatchObject({ requeues: 0, excludedNodes: ["n1"], phase: { cause: "prologue_failed" } });
    expect(record && placementConstraints(record).excludedNodes).toEqual(["n1"]);
    expect(record?.spec.resources.constraints.excludedNodes).toEqual([]);
    expect(c.claims("n1")).toEqual([]);
  });

  it("keeps the allocation off that node, and other work may use it", () => {
    const c = five();
    c.place(1, "n1");
    c.report(1, "n1", "failed", "prologue_failed");
    c.place(1, "n1");
    expect(c.phase(1)).toBe("pending");
    c.apply(submit());
    c.place(2, "n1");
    expect(c.phase(2)).toBe("staging");
    c.place(1, "n2");
    expect(c.phase(1)).toBe("staging");
  });

  it("ends sensitive work at once", () => {
    const c = createCluster(vcluster("clinic", { scheduler: "sensitive_reservation" }), register("n1"), register("n2"));
    c.apply(submit({ vcluster: vclusterId("clinic") }));
    c.apply(plan(c.state, 1, ["n1"], "clinic"));
    c.report(1, "n1", "failed", "prologue_failed");
    expect(c.phase(1)).toBe("failed");
  });

  it("ends the allocation after the allowed tries, with the last message and the reason", () => {
    const c = five();
    for (const node of FIVE.slice(0, MAX_PROLOGUE_RETRIES)) {
      c.place(1, node);
      c.report(1, node, "failed", "prologue_failed");
      expect(c.phase(1)).toBe("pending");
    }
    c.place(1, "n4");
    c.report(1, "n4", "failed", "prologue_failed");
    const { phase } = c.state.allocation(id(1)) ?? {};
    expect(phase).toMatchObject({ kind: "failed", reason: "prologue_failed" });
    expect(phase?.kind === "failed" && phase.message).toMatch(/^node n4: .*\(tried on 4 nodes\)$/);
  });

  it("ends the allocation after as many tries as the report allows", () => {
    const c = five();
    c.place(1, "n1");
    const report = reportOf(1, "n1", attempt(1), "failed", "prologue_failed");
    c.apply({ ...report, prologueRetries: 0 } as Command);
    const { phase } = c.state.allocation(id(1)) ?? {};
    expect(phase?.kind === "failed" && phase.message).toMatch(/\(tried on 1 node\)$/);
  });

  it("ends the allocation at once where no other node fits, or where the node is required", () => {
    const alone = createCluster(register("n1"), submit());
    alone.place(1, "n1");
    alone.report(1, "n1", "failed", "prologue_failed");
    expect(alone.phase(1)).toBe("failed");
    const bound = five({ resources: { requiredNodes: [nodeId("n2")] } });
    bound.place(1, "n2");
    bound.report(1, "n2", "failed", "prologue_failed");
    expect(bound.phase(1)).toBe("failed");
  });

  it("ends work that already runs on another node and must not be repeated", () => {
    const c = five({ nodes: 2, lifecycle: { requeuePolicy: "never" } });
    c.place(1, "n1", "n2");
    c.report(1, "n1", "running");
    c.report(1, "n2", "failed", "prologue_failed");
    expect(c.phase(1)).toBe("failed");
    expect(c.claims("n1")).toEqual(["1/1 releasing"]);
  });

  it("is part of snapshots", () => {
    const c = five();
    c.place(1, "n1");
    c.report(1, "n1", "failed", "prologue_failed");
    const restore = beginRestore(sha256);
    for (const line of snapshotLines(c.state, sha256)) restore.line(line);
    expect(restore.finish().allocation(id(1))?.excludedNodes).toEqual(["n1"]);
  });
});
