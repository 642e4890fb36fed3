// Commands that set something for the whole cluster: settings, retention, limits, the network pool and webhooks. Each is
// accepted once, repeated when nothing changes, and refused with its field at the boundary.

import { type Command, DEFAULT_NETWORK, type duration, type Hook, type NetworkSettings } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { cancel, createCluster, setConfig, submit, verdict } from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";
import { eventsOf, fieldsOf } from "../../support/placing.ts";

const retention = (maxFinished: number, maxFinishedAge = 1000): Command => ({
  kind: "retention.set",
  maxFinished,
  maxFinishedAge: maxFinishedAge as ReturnType<typeof duration>,
});
const pool = (sensitivePoolSize: number | null): Command => ({ kind: "limits.set", limits: { sensitivePoolSize } });
const network = (change: Partial<NetworkSettings>): Command => ({
  kind: "network.set",
  settings: { ...DEFAULT_NETWORK, ...change },
});
const hook = (name: string, change: Partial<Hook> = {}): Hook => ({
  name,
  tenant: null,
  states: ["failed"],
  notices: false,
  ...change,
});
const hooks = (...list: readonly Hook[]): Command => ({ kind: "hooks.set", hooks: list });

describe("a command for the whole cluster", () => {
  it.each<[string, Command]>([
    ["a setting", setConfig("scheduling.max_dag_size", "5")],
    ["the longest key", setConfig(`a.${"b".repeat(126)}`, "1")],
    ["the longest value", setConfig("a.b", "x".repeat(4096))],
    ["retention of nothing", retention(0, 0)],
    ["the longest retention", retention(1_000_000, Number.MAX_SAFE_INTEGER)],
    ["a pool of nothing", pool(0)],
    ["the largest pool", pool(1_000_000)],
    ["the smallest VNI pool", network({ vniStart: 5000, vniEnd: 5000 })],
    ["the largest VNI pool", network({ vniStart: 1000, vniEnd: 16_777_215 })],
    ["a data gateway", network({ dataGateway: "10.1.2.3:443" })],
    ["one webhook", hooks(hook("pager"))],
    ["32 webhooks", hooks(...Array.from({ length: 32 }, (_, n) => hook(`h${n}`)))],
    ["the longest name of a webhook", hooks(hook("x".repeat(63)))],
  ])("sets %s, and its repetition changes nothing", (_name, command) => {
    const c = createCluster();
    expect(verdict(c.one(command))).toBe("accepted");
    expectRepeated(c, command);
  });

  it.each<[string, Command]>([
    ["key", setConfig("", "1")],
    ["key", setConfig("single", "1")],
    ["key", setConfig("A.b", "1")],
    ["key", setConfig("a..b", "1")],
    ["key", setConfig("a.b.", "1")],
    ["key", setConfig("a.1b", "1")],
    ["key", setConfig(`a.${"b".repeat(127)}`, "1")],
    ["value", setConfig("a.b", "x".repeat(4097))],
    ["retention.max_finished", retention(-1)],
    ["retention.max_finished", retention(1_000_001)],
    ["retention.max_finished", retention(0.5)],
    ["retention.max_finished_age", retention(1, -1)],
    ["sensitive_pool_size", pool(-1)],
    ["sensitive_pool_size", pool(1_000_001)],
    ["sensitive_pool_size", pool(1.5)],
    ["network.vni_pool", network({ vniStart: 999 })],
    ["network.vni_pool", network({ vniStart: 5001, vniEnd: 5000 })],
    ["network.vni_pool", network({ vniEnd: 16_777_216 })],
    ["network.data_gateway", network({ dataGateway: "gateway.example:443" })],
    ["hooks", hooks(hook(""))],
    ["hooks", hooks(hook("x".repeat(64)))],
    ["hooks", hooks(hook("a"), hook("a"))],
    ["hooks", hooks(...Array.from({ length: 33 }, (_, n) => hook(`h${n}`)))],
  ])("names %s when it is wrong", (field, command) => {
    expect(fieldsOf(expectRejected(createCluster(), command, "invalid_argument"))).toEqual([field]);
  });

  it("names both values of a retention when both are wrong", () => {
    const outcome = expectRejected(createCluster(), retention(-1, -1), "invalid_argument");
    expect(fieldsOf(outcome)).toEqual(["retention.max_finished", "retention.max_finished_age"]);
  });
});

describe("settings", () => {
  it("are limited in number, and existing ones can still be changed and removed", () => {
    const c = createCluster();
    c.apply(...Array.from({ length: 256 }, (_, n) => setConfig(`a.b${n}`, "1")));
    expect(fieldsOf(expectRejected(c, setConfig("a.more", "1"), "invalid_argument"))).toEqual(["key"]);
    expect(verdict(c.one(setConfig("a.b0", "2")))).toBe("accepted");
    expect(verdict(c.one(setConfig("a.b1", null)))).toBe("accepted");
    expect(verdict(c.one(setConfig("a.more", "1")))).toBe("accepted");
  });

  it("cannot be unset twice", () => {
    expectRepeated(createCluster(), setConfig("a.b", null));
  });

  it("record the user and the time, and cause an event", () => {
    const c = createCluster();
    const applied = c.apply(setConfig("a.b", "1"));
    expect([...c.state.settings()]).toEqual([{ key: "a.b", value: "1", setAt: c.state.at, setBy: "ada" }]);
    expect(eventsOf(applied, "config_changed")).toEqual([
      { kind: "config_changed", to: "set", user: "ada", reason: "a.b", message: "1" },
    ]);
    expect(eventsOf(c.apply(setConfig("a.b", null)), "config_changed")).toMatchObject([{ to: "reset", message: "" }]);
  });
});

describe("webhooks", () => {
  it("lose their pending deliveries when they are removed, and others keep theirs", () => {
    const ends = { states: ["cancelled"] as const };
    const c = createCluster(hooks(hook("a", ends), hook("b", ends)), submit());
    c.apply(cancel(1));
    expect(Array.from(c.state.deliveries(), ({ key }) => key)).toEqual(["a/1/cancelled", "b/1/cancelled"]);
    c.apply(hooks(hook("b", ends)));
    expect(Array.from(c.state.deliveries(), ({ key }) => key)).toEqual(["b/1/cancelled"]);
    expect(verdict(c.one({ kind: "hooks.delivered", keys: ["a/1/cancelled"] }))).toBe("repeated");
    expect(verdict(c.one({ kind: "hooks.delivered", keys: ["x", "b/1/cancelled"] }))).toBe("accepted");
    expect([...c.state.deliveries()]).toEqual([]);
  });

  it("in another order are another configuration", () => {
    const c = createCluster(hooks(hook("a"), hook("b")));
    expect(verdict(c.one(hooks(hook("b"), hook("a"))))).toBe("accepted");
    expect(Array.from(c.state.hooks(), ({ name }) => name)).toEqual(["b", "a"]);
  });
});
