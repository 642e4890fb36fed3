// Notices and webhook deliveries: raised once until cleared, recorded with the end, removed once delivered, and bounded.

import { type Command, type Hook, MAX_DELIVERIES, MAX_NOTICES, noticeKey, type TenantId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { cancel, createCluster, register, submit, submitGroup, tenantId } from "./support/cluster.ts";

const HOOK: Hook = { name: "pager", tenant: null, states: ["failed", "cancelled"], notices: true };
const hooks = (...set: Hook[]): Command => ({ kind: "hooks.set", hooks: set });
const raise = (name: string): Command => ({
  kind: "notice.raise",
  notice: {
    key: noticeKey("budget_exhausted", name),
    kind: "budget_exhausted",
    text: "the budget is spent",
    tenant: name as TenantId,
    user: null,
  },
});
const clear = (name: string): Command => ({ kind: "notice.clear", key: noticeKey("budget_exhausted", name) });

describe("notices", () => {
  it("are raised once until they are cleared", () => {
    const c = createCluster();
    const first = c.apply(raise("physics"), raise("physics"));
    expect(first.events.filter(({ kind }) => kind === "notice_changed")).toHaveLength(1);
    expect(first.outcomes[1]).toMatchObject({ kind: "accepted", repeated: true });
    const over = c.apply(clear("physics"), clear("physics"));
    expect(over.events.map(({ to }) => to)).toEqual(["cleared"]);
    expect(c.apply(raise("physics")).events.map(({ to }) => to)).toEqual(["raised"]);
    expect([...c.state.notices()]).toHaveLength(1);
  });

  it("of a foreign cluster keep when it was last observed", () => {
    const c = createCluster();
    const key = noticeKey("foreign_cluster", "n1");
    const observed: Extract<Command, { kind: "notice.raise" }> = {
      kind: "notice.raise",
      notice: { key, kind: "foreign_cluster", text: "it belongs to another cluster", tenant: null, user: null },
    };
    c.apply(observed);
    expect(c.state.notice(key)?.seenAt).toBeUndefined();
    c.advance(60_000);
    expect(c.apply(observed).events).toEqual([]);
    expect(c.state.notice(key)).toMatchObject({ at: 1_000_000, seenAt: 1_060_000 });
    c.apply({ kind: "notice.clear", key });
    c.apply(observed);
    expect(c.state.notice(key)).toEqual({ ...observed.notice, at: 1_060_000 });
  });

  it("with a malformed key are refused", () => {
    const c = createCluster();
    const odd = { ...raise("physics") } as Extract<Command, { kind: "notice.raise" }>;
    const wrong = { ...odd, notice: { ...odd.notice, key: "other/physics" } };
    expect(c.apply(wrong).outcomes[0]?.kind).toBe("rejected");
    expect([...c.state.notices()]).toEqual([]);
  });

  it("are limited in number, and the oldest is dropped first", () => {
    const c = createCluster();
    c.apply(...Array.from({ length: MAX_NOTICES + 1 }, (_, i) => raise(`t${i}`)));
    const kept = [...c.state.notices()];
    expect(kept).toHaveLength(MAX_NOTICES);
    expect(kept[0]?.tenant).toBe("t1");
  });
});

describe("webhooks", () => {
  it("receive the ends in their subscription, and the end of a group once", () => {
    const c = createCluster(register("n1"), hooks(HOOK), submit(), submitGroup([0, 2]));
    c.apply(cancel(1), cancel(2));
    const waiting = [...c.state.deliveries()];
    expect(waiting.map(({ key }) => key)).toEqual(["pager/1/cancelled", "pager/2/cancelled"]);
    expect(waiting[0]?.about).toMatchObject({ kind: "allocation", id: "1", state: "cancelled", user: "ada" });
  });

  it("receive nothing outside their subscription", () => {
    const other: Hook = { ...HOOK, tenant: tenantId("art"), states: ["failed"], notices: false };
    const c = createCluster(register("n1"), hooks(other), submit());
    c.apply(cancel(1), raise("physics"));
    expect([...c.state.deliveries()]).toEqual([]);
  });

  it("drop delivered messages, and the messages of removed webhooks", () => {
    const c = createCluster(hooks(HOOK, { ...HOOK, name: "mail" }), submit());
    c.apply(cancel(1), raise("physics"));
    expect([...c.state.deliveries()]).toHaveLength(4);
    c.apply({ kind: "hooks.delivered", keys: ["pager/1/cancelled", "unknown/1/failed"] });
    expect([...c.state.deliveries()]).toHaveLength(3);
    c.apply(hooks({ ...HOOK, name: "mail" }));
    expect([...c.state.deliveries()].every(({ hook }) => hook === "mail")).toBe(true);
    expect(c.apply(hooks({ ...HOOK, name: "mail" })).outcomes[0]).toMatchObject({ repeated: true });
  });

  it("that do not answer have a limited number of pending deliveries", () => {
    const c = createCluster(hooks(HOOK));
    for (let n = 0; n < MAX_DELIVERIES / 500 + 1; n += 1) {
      c.apply(...Array.from({ length: 500 }, (_, i) => raise(`t${n}-${i}`)));
    }
    expect([...c.state.deliveries()]).toHaveLength(MAX_DELIVERIES);
  });
});
