// Enrolments: how many nodes may use one, until when, and what a restore, a removal and a repetition do.

import { type Command, duration, prepareRestoredState, seconds } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type Cluster, createCluster, nodeId, origin, register, setConfig, verdict } from "../../support/cluster.ts";
import { expectRejected } from "../../support/content.ts";
import { fieldsOf } from "../../support/placing.ts";

const ID = "0123456789ab";
const idOf = (n: number): string => n.toString(16).padStart(12, "0");

const make = (change: Partial<Extract<Command, { kind: "enrolment.create" }>> = {}): Command => ({
  kind: "enrolment.create",
  origin: origin(),
  id: ID,
  hash: "a".repeat(64),
  limit: 2,
  lifetime: seconds(3_600),
  networks: [],
  ...change,
});
const use = (node: string, id = ID): Command => ({ kind: "enrolment.use", id, node: nodeId(node), detail: "serial 1" });
const remove = (id = ID): Command => ({ kind: "enrolment.remove", origin: origin(), id });
const refusalOf = (c: Cluster, command: Command): string => {
  const outcome = expectRejected(c, command, "forbidden");
  return outcome?.kind === "rejected" ? outcome.refusal.detail : "";
};
const audited = (c: Cluster): readonly string[] =>
  Array.from(c.state.tables.audit.values(), ({ user, action, node }) => `${user} ${action} ${node ?? ""}`.trim()).slice(
    1,
  );

describe("an enrolment", () => {
  it("admits as many nodes as its limit, each counted once, with an audit record", () => {
    const c = createCluster(make());
    for (const node of ["n1", "n2", "n1"]) expect(verdict(c.one(use(node)))).toBe("accepted");
    expect(refusalOf(c, use("n3"))).toMatch(/is used up: its limit of nodes is 2/);
    expect(c.state.enrolment(ID)?.nodes).toEqual(["n1", "n2"]);
    expect(audited(c)).toEqual([
      "ada enrolment.create",
      ...["n1", "n2", "n1"].map((node) => `enrolment-${ID} certificate.issue ${node}`),
    ]);
  });

  it("refuses a registered node, also one that used it", () => {
    const c = createCluster(make(), register("n1"));
    expect(refusalOf(c, use("n1"))).toMatch(/n1 is registered already/);
    c.apply(use("n2"), register("n2"));
    expect(refusalOf(c, use("n2"))).toMatch(/n2 is registered already/);
    expect(c.state.enrolment(ID)?.nodes).toEqual(["n2"]);
  });

  it("refuses nodes once it has expired, and once it was removed", () => {
    const c = createCluster(make({ lifetime: seconds(1) }));
    expect(verdict(c.one(use("n1")))).toBe("accepted");
    c.advance(1_000);
    expect(refusalOf(c, use("n1"))).toMatch(/has expired/);
    expect(verdict(c.one(remove()))).toBe("accepted");
    expect(refusalOf(c, use("n1"))).toMatch(/was removed/);
    expectRejected(c, remove(), "unknown_enrolment");
  });

  it.each<[string, Command]>([
    ["id", make({ id: "short" })],
    ["hash", make({ hash: "secret" })],
    ["max_nodes", make({ limit: 0 })],
    ["max_nodes", make({ limit: 10_001 })],
    ["max_nodes", make({ limit: 1.5 })],
    ["valid_seconds", make({ lifetime: duration(0) })],
    ["valid_seconds", make({ lifetime: seconds(91 * 86_400) })],
    ["networks", make({ networks: Array.from({ length: 17 }, () => "10.0.0.0/8") })],
    ["networks", make({ networks: ["x".repeat(50)] })],
  ])("is rejected with a bad %s", (field, command) => {
    expect(fieldsOf(expectRejected(createCluster(), command, "invalid_argument"))).toEqual([field]);
  });

  it("is rejected beyond the limit of enrolments; expired ones make room", () => {
    const c = createCluster(...Array.from({ length: 100 }, (_, n) => make({ id: idOf(n) })));
    expectRejected(c, make({ id: idOf(0) }), "already_exists");
    expectRejected(c, make(), "quota_exceeded");
    c.advance(3_600_000);
    expect(verdict(c.one(make()))).toBe("accepted");
    expect(Array.from(c.state.enrolments(), ({ id }) => id)).toEqual([ID]);
  });

  it("does not survive the restore of a backup, which does not know its later uses", () => {
    const c = createCluster(make(), use("n1"), setConfig("a.b", "1"));
    prepareRestoredState(c.state, c.state.at);
    expect(Array.from(c.state.enrolments())).toEqual([]);
  });
});
