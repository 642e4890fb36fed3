// The log of changes for readers with derived data, and the list of the newest allocations: a reader that misses a
// change schedules on old data.

import type { AllocationId, NodeId, TenantId } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChangeLog } from "../../src/state/changes.ts";
import { createNewest } from "../../src/state/newest.ts";
import { createCluster, id, nodeId, register, submit, tenantId } from "../support/cluster.ts";

type Step = readonly ["node" | "nodes" | "allocation" | "tenant" | "read", number];
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.tuple(fc.constantFrom("node", "nodes", "allocation", "tenant", "read"), fc.nat(3)) as fc.Arbitrary<Step>,
  { maxLength: 40 },
);

describe("the log of changes", () => {
  it("gives a reader every change since its last read, and nothing older", () => {
    fc.assert(
      fc.property(steps, (list) => {
        const log = createChangeLog();
        let looked = log.count;
        let nodes: NodeId[] = [];
        let allocations = new Set<AllocationId>();
        let tenants = new Set<TenantId>();
        for (const [kind, n] of list) {
          if (kind === "node") {
            log.node(nodeId(`n${n}`));
            nodes.push(nodeId(`n${n}`));
          } else if (kind === "nodes") {
            const many = Array.from({ length: n }, (_, i) => nodeId(`m${i}`));
            log.nodes(many);
            nodes.push(...many);
          } else if (kind === "allocation") {
            log.allocation(id(n + 1));
            allocations.add(id(n + 1));
          } else if (kind === "tenant") {
            log.tenant(tenantId(`t${n}`));
            tenants.add(tenantId(`t${n}`));
          } else {
            expect(log.since(looked)).toEqual({ nodes, allocations, tenants });
            looked = log.count;
            nodes = [];
            allocations = new Set();
            tenants = new Set();
          }
        }
        expect(log.since(looked)).toEqual({ nodes, allocations, tenants });
      }),
      { numRuns: 300 },
    );
  });

  it("makes a reader that is too far behind start over", () => {
    const log = createChangeLog();
    for (let n = 0; n < 32_768; n += 1) log.node(nodeId("n1"));
    expect(log.since(0)?.nodes).toHaveLength(32_768);
    log.node(nodeId("n2"));
    expect(log.since(0)).toBeNull();
    expect(log.since(1)?.nodes.at(-1)).toBe("n2");
    const looked = log.count;
    log.nodes(Array.from({ length: 32_769 }, (_, n) => nodeId(`n${n}`)));
    expect(log.since(looked)).toBeNull();
  });

  it("records a tenant again for a reader that has read in between", () => {
    const log = createChangeLog();
    log.tenant(tenantId("a"));
    log.tenant(tenantId("a"));
    const looked = log.count;
    expect(looked).toBe(1);
    log.tenant(tenantId("a"));
    expect(log.since(looked)?.tenants).toEqual(new Set(["a"]));
  });

  it("names the node, the allocation and the tenant of a placement", () => {
    const c = createCluster(register("n1"), register("n2"));
    c.apply(submit());
    const looked = c.state.changes.count;
    c.place(1, "n1");
    const changed = c.state.changes.since(looked);
    expect(new Set(changed?.nodes)).toEqual(new Set(["n1"]));
    expect(changed?.allocations).toEqual(new Set(["1"]));
    expect(changed?.tenants).toEqual(new Set(["physics"]));
  });
});

describe("the newest allocations", () => {
  it("are listed newest first, without removed ones, from any place", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.array(fc.nat(60)), fc.nat(70), (count, gone, from) => {
        const kept = new Set<string>();
        const newest = createNewest<string>(
          (one) => (kept.has(one) ? one : undefined),
          () => kept.size,
        );
        for (let n = 1; n <= count; n += 1) {
          kept.add(String(n));
          newest.added(id(n));
        }
        for (const n of gone) kept.delete(String(n));
        const expected = [...kept].map(Number).sort((a, b) => b - a);
        expect([...newest.walk(null)].map(Number)).toEqual(expected);
        expect([...newest.walk(id(from + 1))].map(Number)).toEqual(expected.filter((n) => n < from + 1));
      }),
    );
  });

  it("stay correct when the list is compacted after many removals", () => {
    const kept = new Set<string>();
    const newest = createNewest<string>(
      (one) => (kept.has(one) ? one : undefined),
      () => kept.size,
    );
    for (let n = 1; n <= 5000; n += 1) {
      kept.add(String(n));
      newest.added(id(n));
      if (n > 10) kept.delete(String(n - 10));
    }
    expect([...newest.walk(null)].map(Number)).toEqual([5000, 4999, 4998, 4997, 4996, 4995, 4994, 4993, 4992, 4991]);
    expect([...newest.walk(id(4995))].map(Number)).toEqual([4994, 4993, 4992, 4991]);
  });
});
