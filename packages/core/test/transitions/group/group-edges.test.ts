// Task groups at their edges: a release that makes the next element, a cancel across chunks of marks, and counterparts
// that had ended before.

import type { Command } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { cancel, createCluster, hold, id, submit, submitDag, submitGroup, verdict } from "../../support/cluster.ts";
import { expectRejected } from "../../support/content.ts";

describe("the release of one held element", () => {
  it("creates the element in the same entry where the concurrency allows it", () => {
    const c = createCluster(submitGroup([0, 1], 1));
    c.apply(hold("1_1"));
    c.apply(cancel("1_0"));
    expect(c.phase("1_1")).toBe("absent");
    expect(verdict(c.one(hold("1_1", false)))).toBe("accepted");
    expect(c.phase("1_1")).toBe("pending");
  });
});

describe("the release of an allocation that wants a free mutex", () => {
  it("acquires the mutex in the same entry", () => {
    const c = createCluster({ ...submit({ after: ["lock:mutex"] }), hold: true } as Command);
    expect(c.state.mutexHolder("physics" as never, "lock")).toBeNull();
    c.apply(hold(1, false));
    expect(c.state.mutexHolder("physics" as never, "lock")).toBe("1");
    expect(c.state.pendingCount("batch" as never)).toBe(1);
  });
});

describe("a cancel of a range", () => {
  it.each([
    [0, 255],
    [0, 256],
    [200, 599],
    [255, 256],
    [256, 511],
    [0, 599],
  ])("from %i to %i cancels exactly these elements, across chunks of marks", (from, to) => {
    const c = createCluster(submitGroup([0, 599], 1));
    c.apply({ ...cancel(1), elements: [{ from, to }] } as Command);
    const group = c.state.group(id(1));
    if (group === undefined) throw new Error("the group is gone");
    expect(group.counts.cancelled).toBe(to - from + 1);
    const cancelled = Array.from({ length: 600 }, (_, n) => n).filter((n) => c.state.element(group, n) === "cancelled");
    expect([cancelled.length, cancelled[0], cancelled.at(-1)]).toEqual([to - from + 1, from, to]);
  });
});

describe("a group that waits for the elements of another", () => {
  it("counts the elements whose counterparts were cancelled before it was submitted", () => {
    const c = createCluster(submitGroup([0, 3], 1));
    c.apply({ ...cancel(1), elements: [{ from: 2, to: 3 }] } as Command);
    c.apply(submitGroup([0, 3], 4, { after: ["1:corresponding"] }));
    expect(c.state.group(id(2))?.counts).toEqual({ made: 0, completed: 0, failed: 0, cancelled: 2 });
    c.apply(cancel(1));
    expect(c.state.group(id(2))?.phase.kind).toBe("cancelled");
  });

  it("waits for at most nine groups", () => {
    const groups = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`g${n}`, { group: [0, 1] as const }]));
    const dag = (count: number): Command =>
      submitDag({
        ...groups(count),
        last: { group: [0, 1], after: Array.from({ length: count }, (_, n) => `g${n}:corresponding`) },
      });
    expect(verdict(createCluster().one(dag(9)))).toBe("accepted");
    expectRejected(createCluster(), dag(10), "invalid_argument");
    const plain = submitDag({
      ...groups(10),
      last: { group: [0, 1], after: Array.from({ length: 10 }, (_, n) => `g${n}:success`) },
    });
    expect(verdict(createCluster().one(plain))).toBe("accepted");
  });
});
