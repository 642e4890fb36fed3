// allocation.update: each field, its boundaries, and the orders that follow from a new walltime. A change that is not
// acceptable changes nothing, also when only one of several fields is wrong.

import { type Command, duration, type UpdateAllocationCommand } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  id,
  orders,
  origin,
  register,
  scalePolicy,
  submit,
  submitGroup,
  tenant,
  vcluster,
  verdict,
} from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";
import { fieldsOf } from "../../support/placing.ts";

type Change = UpdateAllocationCommand["change"];
const update = (change: Change, n: number | string = 1): Command => ({
  kind: "allocation.update",
  origin: origin(),
  id: id(n),
  change,
});

const MOST_TELEMETRY = 30 * 86_400_000;

function running(kind: "bounded" | "unbounded" = "bounded"): Cluster {
  const c = createCluster(register("n1"), register("n2"), tenant("physics", {}, 8));
  c.apply(submit({ nodes: 2, lifecycle: { kind, walltime: kind === "bounded" ? duration(3_600_000) : null } }));
  c.place(1, "n1", "n2");
  c.report(1, "n1", "running");
  c.report(1, "n2", "running");
  return c;
}

const specOf = (c: Cluster) => c.state.allocation(id(1))?.spec;

describe("an update", () => {
  it.each<[string, Change]>([
    ["a name", { name: "x".repeat(256) }],
    ["an empty name", { name: "" }],
    ["tags", { tags: { a: "b" } }],
    ["a class up to the tenant's highest", { preemptionClass: 8 }],
    ["the lowest class", { preemptionClass: 0 }],
    ["a longer walltime", { walltime: duration(7_200_000) }],
    ["a shorter walltime", { walltime: duration(1) }],
    ["telemetry for good", { telemetry: { mode: "debug", lasts: null } }],
    ["telemetry for a month", { telemetry: { mode: "audit", lasts: duration(MOST_TELEMETRY) } }],
  ])("can set %s, and its repetition changes nothing", (_name, change) => {
    const c = running();
    expect(verdict(c.one(update(change)))).toBe("accepted");
    expectRepeated(c, update(change));
  });

  it.each<[string, Change]>([
    ["name", { name: "x".repeat(257) }],
    ["tags", { tags: { "": "x" } }],
    ["set_tags", { setTags: { "": "x" } }],
    ["preemption_class", { preemptionClass: 11 }],
    ["preemption_class", { preemptionClass: -1 }],
    ["allocation.lifecycle.preemption_class", { preemptionClass: 9 }],
    ["walltime_seconds", { walltime: duration(0) }],
    ["walltime_seconds", { walltime: duration(315_360_000_001) }],
    ["telemetry_mode", { telemetry: { mode: "loud" as never, lasts: null } }],
    ["telemetry_seconds", { telemetry: { mode: "debug", lasts: duration(MOST_TELEMETRY + 1) } }],
    ["telemetry_seconds", { telemetry: { mode: "debug", lasts: duration(0) } }],
    ["service", { service: { task: { kind: "entrypoint", line: "x" } } }],
  ])("names %s when it is wrong, and changes no other field: %j", (field, change) => {
    const outcome = expectRejected(running(), update({ tags: { good: "yes" }, ...change }), "invalid_argument");
    expect(fieldsOf(outcome)).toContain(field);
  });

  it("changes tags by name: some are removed, then others are set", () => {
    const c = running();
    c.apply(update({ tags: { a: "1", b: "2", c: "3" } }));
    c.apply(update({ removeTags: ["a", "c", "zzz"], setTags: { c: "4", d: "5" } }));
    expect(specOf(c)?.tags).toEqual({ b: "2", c: "4", d: "5" });
    c.apply(update({ tags: { x: "1" }, removeTags: ["x"] }));
    expect(specOf(c)?.tags).toEqual({});
  });

  it("of the walltime must be longer than the time used, to the millisecond", () => {
    const c = running();
    c.advance(60_000);
    expectRejected(c, update({ walltime: duration(60_000) }), "invalid_argument");
    expect(verdict(c.one(update({ walltime: duration(60_001) })))).toBe("accepted");
  });

  it("of the walltime repeats the run orders of running nodes, and other updates cause no orders", () => {
    const c = running();
    expect(orders(c.apply(update({ name: "other" })))).toEqual([]);
    expect(orders(c.apply(update({ walltime: duration(7_200_000) })))).toEqual(["run 1/1 on n1", "run 1/1 on n2"]);
    c.report(1, "n1", "completed");
    expect(orders(c.apply(update({ walltime: duration(7_300_000) })))).toEqual(["run 1/1 on n2"]);
  });

  it("of the walltime respects the vCluster's present limit", () => {
    const c = createCluster(vcluster("short", { maxWalltime: duration(3_600_000) }));
    c.apply(submit({ vcluster: "short" }));
    expectRejected(c, update({ walltime: duration(3_600_001) }), "invalid_argument");
    c.apply({
      kind: "vcluster.update",
      origin: origin(),
      vcluster: "short" as never,
      change: { maxWalltime: duration(1_800_000) },
    });
    // Unchanged fields are not checked again.
    expect(verdict(c.one(update({ name: "x" })))).toBe("accepted");
    expectRejected(c, update({ walltime: duration(3_600_000 - 1) }), "invalid_argument");
    expect(verdict(c.one(update({ walltime: duration(1_800_000) })))).toBe("accepted");
  });

  it("of telemetry expires at its time, and prod removes it", () => {
    const c = running();
    c.apply(update({ telemetry: { mode: "debug", lasts: duration(1000) } }));
    expect(specOf(c)?.telemetry).toEqual({ mode: "debug", until: c.state.at + 1000 });
    c.apply(update({ telemetry: { mode: "prod", lasts: null } }));
    expect(specOf(c)).not.toHaveProperty("telemetry");
  });

  it("is noted with the user and the fields in words", () => {
    const c = running();
    c.apply(update({ preemptionClass: 3, setTags: { a: "b" } }));
    const notes = c.state.allocation(id(1))?.past?.notes ?? [];
    expect(notes.at(-1)?.text).toBe("Updated by ada: preemption class, set tags.");
  });
});

describe("an update of a service", () => {
  const program = (line: string): Change => ({ service: { task: { kind: "entrypoint", line } } });

  it("cannot set a walltime", () => {
    expect(
      fieldsOf(expectRejected(running("unbounded"), update({ walltime: duration(5) }), "invalid_argument")),
    ).toEqual(["walltime_seconds"]);
  });

  it("renews its nodes when its program changes, and not when its name changes", () => {
    const c = running("unbounded");
    c.apply(update({ name: "other" }));
    expect(c.state.allocation(id(1))).not.toHaveProperty("renewal");
    c.apply(update(program("new")));
    expect(c.state.allocation(id(1))?.renewal).toEqual({ through: 1, size: 2 });
  });

  it("gives a pending service the new program without a renewal", () => {
    const c = createCluster();
    c.apply(submit({ lifecycle: { kind: "unbounded", walltime: null } }));
    c.apply(update(program("new")));
    expect(specOf(c)?.task).toEqual({ kind: "entrypoint", line: "new" });
    expect(c.state.allocation(id(1))).not.toHaveProperty("renewal");
  });

  it("passes the same checks as a submission", () => {
    expectRejected(running("unbounded"), update(program(" ")), "invalid_argument");
    expectRejected(running("unbounded"), update({ service: { scale: scalePolicy(1, 3) } }), "invalid_argument");
  });
});

describe("an update of a task group", () => {
  it("changes its elements and its spec together, or nothing", () => {
    const c = createCluster(submitGroup([0, 5], 2));
    c.apply(update({ preemptionClass: 3 }));
    expect(["1_0", "1_1"].map((one) => c.state.allocation(id(one))?.spec.lifecycle.preemptionClass)).toEqual([3, 3]);
    expect(c.state.group(id(1))?.spec.lifecycle.preemptionClass).toBe(3);
    expectRepeated(c, update({ preemptionClass: 3 }));
    expectRejected(c, update({ preemptionClass: 11 }), "invalid_argument");
    expectRejected(c, update({ name: "x" }, 99), "unknown_allocation");
  });
});
