// The state's indexes, its ordered sets and its hash.

import { type AllocationId, compareAllocationIds } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createOrdered } from "../src/base/ordered.ts";
import { cancel, createCluster, id, register, spec, submit } from "./support/cluster.ts";

const ascending = (a: number, b: number): number => a - b;

describe("ordered set", () => {
  it("agrees with a sorted array", () => {
    const operations = fc.array(fc.tuple(fc.boolean(), fc.nat(3000)), { minLength: 500, maxLength: 4000, size: "max" });
    fc.assert(
      fc.property(fc.noBias(operations), fc.boolean(), (list, prefilled) => {
        const ordered = createOrdered<number>(ascending);
        const twin = new Set<number>();
        // Full chunks, so that inserting splits them.
        for (let i = 0; prefilled && i < 3000; i += 2) {
          ordered.add(i);
          twin.add(i);
        }
        for (const [adding, n] of list) {
          if (adding) ordered.add(n);
          else ordered.delete(n);
          if (adding) twin.add(n);
          else twin.delete(n);
        }
        expect([...ordered]).toEqual([...twin].sort(ascending));
        expect(ordered.size).toBe(twin.size);
      }),
      { numRuns: 60 },
    );
  });
});

describe("order of allocation ids", () => {
  it("is by number, then by element", () => {
    const ids = ["1", "2", "2_0", "2_3", "2_10", "10", "100", "101_1"] as AllocationId[];
    expect([...ids].reverse().sort(compareAllocationIds)).toEqual(ids);
  });
});

describe("indexes", () => {
  it("return a requeued allocation to its place in the queue", () => {
    const c = createCluster(register("n1"), ...Array.from({ length: 12 }, () => submit()));
    c.place(2, "n1");
    c.report(2, "n1", "failed", "lost");
    const queue = Array.from(c.state.pending(spec().vcluster), (record) => record.id);
    expect(queue).toEqual(Array.from({ length: 12 }, (_, i) => id(i + 1)));
  });
  it("list nodes in order of id, whatever the order of registration", () => {
    const c = createCluster(register("b"), register("a10"), register("B"), register("a9"));
    expect(Array.from(c.state.nodes(), (node) => node.id)).toEqual(["B", "a10", "a9", "b"]);
  });
  it("list finished work in the order in which it became free of claims", () => {
    const c = createCluster(register("n1"), submit(), submit());
    c.place(1, "n1");
    c.apply(cancel(1), cancel(2));
    c.report(1, "n1", "failed", "stopped");
    expect(Array.from(c.state.tables.finished.values(), (f) => f.allocation)).toEqual(["2", "1"]);
  });
});
