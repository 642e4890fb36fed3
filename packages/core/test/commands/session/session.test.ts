// session.open and session.close: numbering, bounds, and what the end of a session does to the allocation it was made
// for.

import { type Command, duration } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  id,
  orders,
  origin,
  register,
  spec,
  submit,
  verdict,
} from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";

const open: Command = { kind: "session.open", origin: origin(), allocation: id(1) };
const close = (n: number, exitCode: number | null = 0, exitCounts?: true): Command => ({
  kind: "session.close",
  origin: origin(),
  allocation: id(1),
  n,
  exitCode,
  ...(exitCounts === undefined ? {} : { exitCounts }),
});

function running(session: boolean): Cluster {
  const c = createCluster(register("n1"));
  c.apply({
    kind: "allocation.submit",
    origin: origin(),
    spec: { ...spec(), ...(session ? { session } : {}) },
    createTenant: true,
  });
  c.place(1, "n1");
  c.advance(1000);
  c.report(1, "n1", "running");
  return c;
}

const numbers = (c: Cluster): readonly number[] => (c.state.allocation(id(1))?.sessions ?? []).map(({ n }) => n);

describe("a session", () => {
  it("gets the number after the highest open one, so that open sessions have different numbers", () => {
    const c = running(false);
    expect([c.one(open), c.one(open), c.one(open)]).toMatchObject([{ id: "1.1" }, { id: "1.2" }, { id: "1.3" }]);
    c.apply(close(2));
    expect(c.one(open)).toMatchObject({ id: "1.4" });
    expect(numbers(c)).toEqual([1, 3, 4]);
    c.apply(close(4));
    expect(c.one(open)).toMatchObject({ id: "1.4" });
  });

  it("is one of at most 64, and another can open when one closes", () => {
    const c = running(false);
    for (let n = 0; n < 64; n += 1) c.apply(open);
    expect(expectRejected(c, open, "quota_exceeded")).toMatchObject({
      refusal: { figures: { current: 64, limit: 64 } },
    });
    c.apply(close(30));
    expect(verdict(c.one(open))).toBe("accepted");
  });

  it("that is already closed or never opened changes nothing when it is closed", () => {
    const c = running(false);
    c.apply(open);
    expectRepeated(c, close(7));
    c.apply(close(1));
    expectRepeated(c, close(1));
    expect([c.phase(1), numbers(c)]).toEqual(["running", []]);
  });

  it("ends with its allocation", () => {
    const c = running(false);
    c.apply(open);
    c.report(1, "n1", "completed");
    expectRepeated(c, close(1));
    expectRejected(c, open, "illegal_transition");
  });
});

describe("the allocation of a session", () => {
  it("completes with it, whatever the shell's last exit code", () => {
    const c = running(true);
    const applied = c.apply(close(1, 130));
    expect(orders(applied)).toEqual(["stop 1/1 on n1"]);
    expect(c.state.allocation(id(1))?.phase).toMatchObject({
      kind: "completed",
      exitCode: 130,
      message: "its session was ended",
    });
    expectRepeated(c, close(1));
  });

  it.each([
    [0, "completed"],
    [null, "completed"],
    [3, "failed"],
  ])("after work with exit code %j is %s", (exitCode, kind) => {
    const c = running(true);
    c.apply(close(1, exitCode, true));
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind, exitCode });
  });

  it("is cancelled when the session closes before the start", () => {
    const c = createCluster();
    c.apply({ kind: "allocation.submit", origin: origin(), spec: { ...spec(), session: true }, createTenant: true });
    expect(numbers(c)).toEqual([1]);
    c.apply(close(1));
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "cancelled", reason: "its session was ended" });
  });

  it("continues while its other sessions close", () => {
    const c = running(true);
    c.apply(open);
    expect(numbers(c)).toEqual([1, 2]);
    c.apply(close(2));
    expect([c.phase(1), numbers(c)]).toEqual(["running", [1]]);
  });

  it("completes at its walltime, where other work fails", () => {
    const ends = [true, false].map((session) => {
      const c = running(session);
      c.advance(duration(3_600_000));
      c.apply({ kind: "attempt.expire", allocation: id(1), attempt: 1 as never });
      return c.phase(1);
    });
    expect(ends).toEqual(["completed", "failed"]);
  });

  it("stays an ordinary allocation without a session", () => {
    const c = createCluster(submit());
    expect(c.state.allocation(id(1))).toMatchObject({ sessions: [] });
    expectRepeated(c, close(1));
    expect(c.phase(1)).toBe("pending");
  });
});
