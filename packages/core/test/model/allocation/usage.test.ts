// The resources that attempts have used, in the record: totals, peaks, and what late reports add.

import { attempt, totalUsage } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCluster, id, register, reportOf, submit } from "../../support/cluster.ts";

const used = (node: string, state: "completed" | "failed", processorMs: number, peakMemoryBytes?: number) => ({
  ...reportOf(1, node, attempt(1), state),
  usage: { processorMs, ...(peakMemoryBytes === undefined ? {} : { peakMemoryBytes }) },
});

function placed(nodes: number) {
  const names = Array.from({ length: nodes }, (_, i) => `n${i + 1}`);
  const c = createCluster(...names.map((name) => register(name)));
  c.apply(submit({ nodes }));
  c.place(1, ...names);
  for (const name of names) c.report(1, name, "running");
  return c;
}

describe("the usage of an attempt", () => {
  it("adds CPU time of its nodes and takes the highest peak of memory", () => {
    const c = placed(2);
    c.apply(used("n1", "completed", 100, 5_000));
    c.apply(used("n2", "completed", 50, 9_000));
    const record = c.state.allocation(id(1));
    expect(record?.phase.kind).toBe("completed");
    expect(record?.usage).toEqual([
      {
        ...{ attempt: 1, nodeCount: 2, processorMs: 150, peakMemoryBytes: 9_000, peakMemoryNode: "n2" },
        nodes: [
          { node: "n1", processorMs: 100, peakMemoryBytes: 5_000 },
          { node: "n2", processorMs: 50, peakMemoryBytes: 9_000 },
        ],
      },
    ]);
  });

  it("includes nodes that report after the allocation has failed, once each", () => {
    const c = placed(2);
    c.apply(used("n1", "failed", 100));
    expect(c.phase(1)).toBe("failed");
    c.apply(used("n2", "failed", 30));
    c.apply(used("n2", "failed", 30));
    expect(c.state.allocation(id(1))?.usage?.[0]).toMatchObject({ nodeCount: 2, processorMs: 130 });
    expect(c.state.allocation(id(1))?.usage?.[0]).not.toHaveProperty("peakMemoryBytes");
  });

  it("names 16 nodes and counts all", () => {
    const c = placed(20);
    for (let n = 1; n <= 20; n += 1) c.apply(used(`n${n}`, "completed", 10, n));
    const [usage] = c.state.allocation(id(1))?.usage ?? [];
    expect(usage).toMatchObject({ nodeCount: 20, processorMs: 200, peakMemoryBytes: 20, peakMemoryNode: "n20" });
    expect(usage?.nodes).toHaveLength(16);
  });

  it("is kept by attempt, and the total covers all attempts", () => {
    const c = createCluster(register("n1"), submit({ lifecycle: { requeuePolicy: "always", maxRequeue: 3 } }));
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.apply(used("n1", "failed", 40, 7));
    expect(c.phase(1)).toBe("pending");
    c.place(1, "n1");
    c.report(1, "n1", "running");
    c.apply({ ...used("n1", "completed", 60, 3), attempt: attempt(2) });
    const record = c.state.allocation(id(1));
    expect(record?.usage?.map((one) => one.attempt)).toEqual([1, 2]);
    expect(totalUsage(record ?? {})).toEqual({ processorMs: 100, peakMemoryBytes: 7 });
  });

  it("is missing when no node reports any", () => {
    const c = placed(1);
    c.report(1, "n1", "completed");
    expect(c.state.allocation(id(1))).not.toHaveProperty("usage");
  });
});
