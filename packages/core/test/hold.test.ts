// Hold and release: single allocations, task groups, and elements with or without a record.

import { type Command, GROUP_WINDOW, heldIndexes, type Outcome } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  createCluster,
  hold,
  id,
  plan,
  register,
  submit,
  submitGroup,
  vclusterId,
} from "./support/cluster.ts";

const cluster = () => createCluster(...["n1", "n2", "n3"].map((name) => register(name)));
const queue = (c: Cluster): readonly string[] =>
  Array.from(c.state.pending(vclusterId("batch")), (record) => record.id);
const heldBy = (c: Cluster, n: number | string): string | null => {
  const known = c.state.allocation(id(n))?.hold;
  return known === undefined ? null : `${known.as} ${known.by}`;
};
const said = (outcome: Outcome): string => {
  if (outcome.kind === "rejected") return `${outcome.refusal.code}: ${outcome.refusal.detail}`;
  return outcome.repeated === true ? "unchanged" : "accepted";
};
const release = (n: number | string, by = "ada"): Command => hold(n, false, by);

describe("an allocation", () => {
  it("with a hold is not queued and not placed, and counts its waiting from the release", () => {
    const c = cluster();
    c.apply(submit());
    const before = plan(c.state, 1, ["n1"]);
    expect(said(c.one(hold(1)))).toBe("accepted");
    expect(said(c.one(hold(1)))).toBe("unchanged");
    expect([queue(c), heldBy(c, 1), c.state.onHoldCount]).toEqual([[], "user ada", 1]);
    c.apply(before);
    expect(c.phase(1)).toBe("pending");

    const { submittedAt } = c.state.allocation(id(1)) ?? {};
    c.advance(60_000);
    const { events, outcomes } = c.apply(release(1));
    expect(outcomes.map(said)).toEqual(["accepted"]);
    expect(events).toMatchObject([{ allocation: "1", to: "pending", reason: "released", message: "Released by ada." }]);
    expect(c.state.allocation(id(1))).toMatchObject({ submittedAt, eligibleAt: Number(submittedAt) + 60_000 });
    expect(said(c.one(release(1)))).toBe("unchanged");
    c.place(1, "n1");
    expect(c.phase(1)).toBe("staging");
  });

  it("can be held at submission", () => {
    const c = cluster();
    c.apply({ ...submit(), hold: true } as Command);
    expect([queue(c), heldBy(c, 1)]).toEqual([[], "user ada"]);
    c.apply(release(1));
    expect(queue(c)).toEqual(["1"]);
  });

  it("with an administrator's hold cannot be released by its owner", () => {
    const c = cluster();
    c.apply(submit(), hold(1), hold(1, true, "root"));
    expect(heldBy(c, 1)).toBe("admin root");
    expect(said(c.one(hold(1)))).toBe("unchanged");
    expect(said(c.one(release(1)))).toMatch(/^forbidden: allocation 1 is held by an administrator/);
    expect(heldBy(c, 1)).toBe("admin root");
    expect(said(c.one(release(1, "root")))).toBe("accepted");
    expect(queue(c)).toEqual(["1"]);
  });

  it("can be held only while it is pending, and can be cancelled while held", () => {
    const c = cluster();
    c.apply(submit(), submit());
    c.place(1, "n1");
    expect(said(c.one(hold(1)))).toMatch(/^illegal_transition: allocation 1 is staging/);
    expect(said(c.one(hold(9)))).toMatch(/^unknown_allocation/);
    c.apply(hold(2), cancel(2));
    expect([c.phase(2), heldBy(c, 2), c.state.onHoldCount]).toEqual(["cancelled", null, 0]);
    expect(said(c.one(hold(2)))).toMatch(/^illegal_transition: allocation 2 is cancelled/);
  });

  it("stays held when its dependencies end, and does not block a mutex", () => {
    const c = cluster();
    c.apply(submit(), submit({ after: ["1"] }), hold(2), cancel(1));
    c.apply(submit(), submit({ after: ["3:any"] }), hold(4), cancel(3));
    expect([c.phase(2), c.phase(4), heldBy(c, 4), queue(c)]).toEqual(["cancelled", "pending", "user ada", []]);
    c.apply(release(4));
    expect(queue(c)).toEqual(["4"]);

    c.apply(submit({ after: ["m:mutex"] }), submit({ after: ["m:mutex"] }), hold(6), cancel(5));
    c.apply(submit({ after: ["m:mutex"] }));
    expect(queue(c)).toEqual(["4", "7"]);
    c.apply(release(6), cancel(7));
    expect(queue(c)).toEqual(["4", "6"]);
  });
});

describe("a task group", () => {
  it("with a hold creates no elements, and its queued elements leave the queue", () => {
    const c = cluster();
    c.apply(submitGroup([0, 999]));
    expect(queue(c)).toHaveLength(GROUP_WINDOW);
    c.apply(hold(1));
    expect([queue(c), c.state.onHoldCount, c.state.group(id(1))?.counts.made]).toEqual([
      [],
      GROUP_WINDOW,
      GROUP_WINDOW,
    ]);
    expect(said(c.one(hold(1)))).toBe("unchanged");
    c.apply(cancel("1_3"));
    expect(c.state.group(id(1))?.counts.made).toBe(GROUP_WINDOW - 1);
    c.apply(release(1));
    expect([queue(c).length, c.state.onHoldCount]).toEqual([GROUP_WINDOW, 0]);
  });

  it("can be held at submission, and its elements count their waiting from the release", () => {
    const c = cluster();
    c.apply({ ...submitGroup([0, 2], 1), hold: true } as Command);
    expect([queue(c), c.state.group(id(1))?.hold?.as]).toEqual([[], "user"]);
    c.advance(5_000);
    c.apply(release(1));
    expect(queue(c)).toEqual(["1_0"]);
    expect(c.state.allocation(id("1_0"))).toMatchObject({ eligibleAt: 1_005_000, submittedAt: 1_000_000 });
  });

  it("continues with other elements while single ones are held, created or not", () => {
    const c = cluster();
    c.apply(submitGroup([0, 5], 2));
    expect(said(c.one(hold("1_0")))).toBe("accepted");
    expect(said(c.one({ ...hold(1), elements: [{ from: 3, to: 4 }] }))).toBe("accepted");
    expect([queue(c), c.state.onHoldCount]).toEqual([["1_1"], 1]);
    expect([3, 4, 5].map((n) => c.state.elementHold(c.state.group(id(1)) as never, n))).toEqual(["user", "user", null]);
    // Existing elements keep their place; pending indexes are skipped.
    c.apply(cancel("1_1"), cancel("1_2"));
    expect(queue(c)).toEqual(["1_5"]);
    expect(said(c.one(release("1_3")))).toBe("accepted");
    c.apply(cancel("1_5"));
    expect(queue(c)).toEqual(["1_3"]);
    c.apply(release(1), cancel("1_0"));
    expect(queue(c)).toEqual(["1_3", "1_4"]);
  });

  it("lists its held elements that have no record yet, by kind of hold", () => {
    const c = cluster();
    c.apply(submitGroup([0, 999], 1), { ...hold(1), elements: [{ from: 5, to: 299 }] });
    const few = [700, 990, 991, 992].map((n) => ({ from: n, to: n }));
    c.apply({ ...hold(1, true, "root"), elements: few });
    const group = c.state.group(id(1));
    if (group === undefined) throw new Error("no group");
    const text = (as: "user" | "admin") => heldIndexes(group, c.state.heldElements(group, as));
    expect([text("user"), text("admin")]).toEqual(["5-299", "700,990-992"]);
    const scattered = Array.from({ length: 500 }, (_, n) => 2 * n);
    expect(heldIndexes(group, scattered)).toMatch(/^0,2,4,.*,\.\.\.$/);
    expect(heldIndexes(group, [])).toBe("");
  });

  it("starts at the first element without a hold", () => {
    const c = cluster();
    c.apply(submitGroup([0, 999]), { ...hold(1), elements: [{ from: 0, to: 299 }] });
    expect([queue(c)[0], queue(c).length]).toEqual(["1_300", GROUP_WINDOW]);
  });

  it("explains why an element cannot be held or released", () => {
    const c = cluster();
    c.apply(submitGroup([0, 2]), hold("1_1", true, "root"));
    expect(said(c.one(release("1_1")))).toMatch(/^forbidden/);
    expect(said(c.one(release(1)))).toMatch(/^forbidden: task group 1/);
    expect(said(c.one(hold("1_7")))).toMatch(/^unknown_allocation: there is no element 1_7/);
    c.apply(cancel(1));
    expect(said(c.one(hold(1)))).toMatch(/^illegal_transition: task group 1 is already cancelled/);
    expect(said(c.one(hold("1_0")))).toMatch(/^illegal_transition/);
  });
});
