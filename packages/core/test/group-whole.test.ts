// Update, checkpoint and resume of a whole task group: the existing elements and the ones to be created.

import { type Command, seconds } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type Cluster, createCluster, id, origin, register, submitGroup, verdict } from "./support/cluster.ts";

const NAMES = ["n1", "n2"];
const group = (change: Parameters<typeof submitGroup>[2] = {}): Cluster => {
  const c = createCluster(...NAMES.map((name) => register(name)));
  c.apply(submitGroup([1, 3], 2, change));
  return c;
};
const update = (walltime: number): Command => ({
  kind: "allocation.update",
  origin: origin(),
  id: id(1),
  change: { walltime: seconds(walltime) },
});
const walltimes = (c: Cluster) =>
  ["1_1", "1_2", "1_3"].map((each) => c.state.allocation(id(each))?.spec.lifecycle.walltime ?? null);

describe("a whole task group", () => {
  it("is updated with its existing elements and the ones to be created", () => {
    const c = group();
    expect(verdict(c.one(update(120)))).toBe("accepted");
    expect(walltimes(c)).toEqual([120_000, 120_000, null]);
    c.apply({ kind: "allocation.cancel", origin: origin(), id: id("1_1"), reason: "" });
    expect(walltimes(c)[2]).toBe(120_000);
    expect(verdict(c.one(update(0)))).toBe("invalid_argument");
    expect(c.state.group(id(1))?.spec.lifecycle.walltime).toBe(120_000);
  });

  it("stays unchanged when one of its elements cannot be changed", () => {
    const c = group();
    c.place("1_1", "n1");
    c.report("1_1", "n1", "running");
    c.advance(60_000);
    expect(verdict(c.one(update(30)))).toBe("invalid_argument");
    expect(new Set(walltimes(c)).has(seconds(30))).toBe(false);
  });

  it("requests checkpoints of its running elements, and resumes its suspended ones", () => {
    const checkpoint = {
      mode: "signal",
      auto: false,
      port: 0,
      timeout: seconds(600),
      maxDeferral: seconds(0),
    } as const;
    const c = group({ checkpoint });
    const ask: Command = { kind: "allocation.checkpoint", origin: origin(), id: id(1) };
    const resume: Command = { kind: "allocation.resume", origin: origin(), id: id(1) };
    expect(verdict(c.one(ask))).toBe("illegal_transition");
    expect(verdict(c.one(resume))).toBe("illegal_transition");
    c.place("1_1", "n1");
    c.report("1_1", "n1", "running");
    expect(verdict(c.one(ask))).toBe("accepted");
    expect([c.phase("1_1"), c.phase("1_2")]).toEqual(["checkpointing", "pending"]);
    c.apply({
      kind: "attempt.report",
      node: "n1" as never,
      allocation: id("1_1"),
      attempt: 1 as never,
      state: "failed",
      exitCode: null,
      reason: "walltime_exceeded",
      message: "",
      checkpoint: { n: 1, ok: true, bytes: 5, message: "" },
    });
    expect(c.phase("1_1")).toBe("suspended");
    expect(c.state.restingElements(id(1))).toBe(1);
    expect(verdict(c.one(resume))).toBe("accepted");
    expect(c.phase("1_1")).toBe("pending");
    expect(c.state.restingElements(id(1))).toBe(0);
  });
});
