// allocation.cancel: from every phase, of groups and elements, once; the nodes get one stop order and keep their claims
// until they have confirmed.

import { describe, expect, it } from "vitest";
import {
  cancel,
  createCluster,
  id,
  moves,
  orders,
  register,
  submit,
  submitGroup,
  verdict,
} from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";
import { phaseBuilders } from "../../support/phases.ts";

describe("a cancel", () => {
  it.each(["pending", "held", "blocked", "backoff", "suspended"] as const)(
    "of %s work ends it at once, without orders",
    (name) => {
      const c = phaseBuilders[name]();
      const applied = c.apply(cancel(1));
      expect(verdict(applied.outcomes[0])).toBe("accepted");
      expect(c.phase(1)).toBe("cancelled");
      expect(orders(applied).filter((order) => !order.startsWith("archive"))).toEqual([]);
      expectRepeated(c, cancel(1));
    },
  );

  it.each(["staging", "running", "checkpointing"] as const)("of %s work orders its nodes to stop, once", (name) => {
    const c = phaseBuilders[name]();
    const applied = c.apply(cancel(1));
    expect(orders(applied)).toEqual(["stop 1/1 on n1"]);
    expect([c.phase(1), c.claims("n1")]).toEqual(["cancelled", ["1/1 releasing"]]);
    expectRepeated(c, cancel(1));
    expect(orders(c.report(1, "n1", "failed", "stopped"))).toEqual(["forget 1/1 on n1"]);
    expect([c.phase(1), c.claims("n1")]).toEqual(["cancelled", []]);
  });

  it.each(["completed", "failed"] as const)("of %s work is rejected", (name) => {
    const c = phaseBuilders[name]();
    const outcome = expectRejected(c, cancel(1), "illegal_transition");
    expect(JSON.stringify(outcome)).toContain(`allocation 1 is already ${name}`);
  });

  it("for an unknown id is rejected, whatever the id looks like", () => {
    const c = createCluster();
    for (const unknown of ["1", "99_0", "dag-1", "x", ""]) expectRejected(c, cancel(unknown), "unknown_allocation");
  });

  it("is recorded with the user, the reason and the nodes", () => {
    const c = phaseBuilders.running();
    c.advance(5000);
    c.apply(cancel(1));
    expect(c.state.allocation(id(1))?.phase).toMatchObject({
      kind: "cancelled",
      by: "ada",
      reason: "enough",
      nodes: ["n1"],
      startedAt: expect.any(Number) as unknown,
      endedAt: c.state.at,
      exitCode: null,
    });
  });

  it("of one of several allocations leaves the others alone", () => {
    const c = createCluster(register("n1"), register("n2"));
    c.apply(submit(), submit());
    c.place(1, "n1");
    c.place(2, "n2");
    expect(moves(c.apply(cancel(1)))).toEqual(["1: staging > cancelled"]);
    expect([c.phase(2), c.claims("n2")]).toEqual(["staging", ["2/1"]]);
  });
});

describe("a cancel of a task group", () => {
  const elements = (from: number, to: number) =>
    ({ ...cancel(1), elements: [{ from, to }] }) as ReturnType<typeof cancel>;

  it("ends every element, created or not, and then the group", () => {
    const c = createCluster(submitGroup([0, 9], 2));
    const applied = c.apply(cancel(1));
    expect(verdict(applied.outcomes[0])).toBe("accepted");
    expect(c.state.group(id(1))).toMatchObject({ phase: { kind: "cancelled" }, counts: { made: 0, cancelled: 10 } });
    expectRepeated(c, cancel(1));
  });

  it("for a range ends these elements only, and the next ones take their place", () => {
    const c = createCluster(submitGroup([0, 9], 2));
    c.apply(elements(0, 4));
    expect(c.state.group(id(1))).toMatchObject({ phase: { kind: "pending" }, counts: { made: 2, cancelled: 5 } });
    expect([c.phase("1_0"), c.phase("1_5"), c.phase("1_6"), c.phase("1_7")]).toEqual([
      "cancelled",
      "pending",
      "pending",
      "absent",
    ]);
    expectRepeated(c, elements(0, 4));
  });

  it("of single elements by id does the same", () => {
    const c = createCluster(submitGroup([0, 3], 1));
    expect(verdict(c.one(cancel("1_3")))).toBe("accepted");
    expect(verdict(c.one(cancel("1_0")))).toBe("accepted");
    expect(c.state.group(id(1))?.counts).toMatchObject({ made: 1, cancelled: 2 });
    expect(c.phase("1_1")).toBe("pending");
  });

  it("for elements outside the group is rejected with the group's range", () => {
    const c = createCluster(submitGroup([0, 8, 2], 1));
    expect(JSON.stringify(expectRejected(c, cancel("1_3"), "unknown_allocation"))).toContain("the group has 0-8:2");
    expectRejected(c, elements(9, 20), "unknown_allocation");
    expectRejected(c, elements(3, 3), "unknown_allocation");
    expectRejected(c, elements(5, 4), "unknown_allocation");
  });

  it("for elements that have already ended is rejected", () => {
    const c = createCluster(register("n1"), submitGroup([0, 1], 1));
    c.place("1_0", "n1");
    c.report("1_0", "n1", "running");
    c.report("1_0", "n1", "completed");
    expectRejected(c, elements(0, 0), "illegal_transition");
    expect(verdict(c.one(elements(0, 1)))).toBe("accepted");
    expectRejected(c, cancel(1), "repeated");
    expect(c.state.group(id(1))?.counts).toMatchObject({ completed: 1, cancelled: 1 });
  });

  it("after its completion is rejected", () => {
    const c = createCluster(register("n1"), submitGroup([0, 0], 1));
    c.place("1_0", "n1");
    c.report("1_0", "n1", "running");
    c.report("1_0", "n1", "completed");
    expectRejected(c, cancel(1), "illegal_transition");
  });
});
