// network.grace, network.release and network.fabric: when a VNI is free again, and when work may use the fabric.

import { type Command, DEFAULT_NETWORK, type duration, type NetworkSettings } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  createCluster,
  id,
  nodeId,
  orders,
  origin,
  register,
  submit,
  tenantId,
  verdict,
} from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";
import { fieldsOf } from "../../support/placing.ts";
import { lines } from "../../support/transcript.ts";

const BLUE = "physics/blue";
const GRACE = DEFAULT_NETWORK.grace;
const settings = (change: Partial<NetworkSettings>): Command => ({
  kind: "network.set",
  settings: { ...DEFAULT_NETWORK, ...change },
});
const release = (key = BLUE): Command => ({ kind: "network.release", key });
const grace = (ms: number, name = "blue"): Command => ({
  kind: "network.grace",
  origin: origin(),
  tenant: tenantId("physics"),
  name,
  grace: ms as ReturnType<typeof duration>,
});
const fabric = (nodes: readonly string[], problem = "", vni = 1000): Command => ({
  kind: "network.fabric",
  key: BLUE,
  vni,
  nodes: nodes.map(nodeId),
  problem,
});

function placed(...setUp: readonly Command[]): Cluster {
  const c = createCluster(register("n1"), register("n2"), ...setUp);
  c.apply(submit({ nodes: 2, domain: "blue" }));
  c.place(1, "n1", "n2");
  return c;
}

function ended(...setUp: readonly Command[]): Cluster {
  const c = placed(...setUp);
  c.apply(cancel(1));
  return c;
}

const confirm = (c: Cluster): void => {
  for (const node of ["n1", "n2"]) c.report(1, node, "failed", "stopped");
};

describe("the release of a network domain", () => {
  it("waits for its members, its grace, and every node that may still have processes of it", () => {
    const c = placed();
    expectRejected(c, release(), "stale_report");
    c.apply(cancel(1));
    c.advance(GRACE - 1);
    expectRejected(c, release(), "stale_report");
    c.advance(1);
    expectRejected(c, release(), "stale_report");
    c.report(1, "n1", "failed", "stopped");
    expectRejected(c, release(), "stale_report");
    c.report(1, "n2", "failed", "stopped");
    expect(verdict(c.one(release()))).toBe("accepted");
    expectRepeated(c, release());
    expect(c.state.domain(BLUE)).toBeUndefined();
  });

  it("waits for the grace from the last member on", () => {
    const c = ended();
    confirm(c);
    c.advance(GRACE - 1);
    c.apply(submit({ domain: "blue" }));
    c.place(2, "n1");
    c.apply(cancel(2));
    c.report(2, "n1", "failed", "stopped");
    c.advance(1);
    expectRejected(c, release(), "stale_report");
    c.advance(GRACE - 1);
    expect(verdict(c.one(release()))).toBe("accepted");
  });

  it("waits until the fabric manager has none of its nodes", () => {
    const c = placed(settings({ managed: true }));
    c.apply(fabric(["n1", "n2"]));
    c.apply(cancel(1));
    confirm(c);
    c.advance(GRACE);
    expectRejected(c, release(), "stale_report");
    c.apply(fabric([]));
    expect(verdict(c.one(release()))).toBe("accepted");
  });
});

describe("the grace of a network domain", () => {
  const WEEK = 7 * 86_400_000;

  it("is between zero and a week, and decides when the domain can be released", () => {
    const c = ended();
    confirm(c);
    expect(verdict(c.one(grace(WEEK)))).toBe("accepted");
    c.advance(GRACE);
    expectRejected(c, release(), "stale_report");
    expect(verdict(c.one(grace(0)))).toBe("accepted");
    expectRepeated(c, grace(0));
    expect(verdict(c.one(release()))).toBe("accepted");
  });

  it("beyond a week is refused, as for unknown domains", () => {
    const c = placed();
    for (const wrong of [WEEK + 1, -1, 0.5]) {
      expect(fieldsOf(expectRejected(c, grace(wrong), "invalid_argument"))).toEqual(["grace_seconds"]);
    }
    expectRejected(c, grace(5, "red"), "unknown_domain");
  });
});

describe("the fabric of a network domain", () => {
  it("orders the start on each node once it is confirmed", () => {
    const c = placed(settings({ managed: true }));
    expect(orders(c.apply(fabric(["n1"])))).toEqual(["run 1/1 on n1"]);
    expectRepeated(c, fabric(["n1"]));
    expect(orders(c.apply(fabric(["n1", "n2"])))).toEqual(["run 1/1 on n2"]);
    c.report(1, "n1", "running");
    expect(orders(c.apply(fabric(["n2"])))).toEqual([]);
    expect(orders(c.apply(fabric(["n1", "n2"])))).toEqual([]);
  });

  it("with an error raises one notice and one note for the waiting work", () => {
    const c = placed(settings({ managed: true }));
    expect(lines(c.apply(fabric([], "no route")))).toEqual(["notice raised (fabric_unavailable)"]);
    expect(lines(c.apply(fabric([], "still no route")))).toEqual([]);
    const notes = c.state.allocation(id(1))?.past?.notes?.map(({ text }) => text);
    expect(notes).toEqual([
      "It waits for the fabric manager: no route.",
      "It waits for the fabric manager: still no route.",
    ]);
    expect(lines(c.apply(fabric(["n1", "n2"])))).toEqual([
      "notice cleared (fabric_unavailable)",
      "> run 1/1 on n1",
      "> run 1/1 on n2",
    ]);
  });

  it("with another VNI, an unknown domain or a very long error is refused", () => {
    const c = placed(settings({ managed: true }));
    expectRejected(c, fabric(["n1"], "", 1001), "stale_report");
    expectRejected(c, { ...fabric([]), key: "physics/red" } as Command, "stale_report");
    expect(verdict(c.one(fabric([], "x".repeat(1024))))).toBe("accepted");
    expect(fieldsOf(expectRejected(c, fabric([], "x".repeat(1025)), "invalid_argument"))).toEqual(["problem"]);
  });

  it("stays unavailable while another domain has an error", () => {
    const c = placed(settings({ managed: true }), register("n3"));
    c.apply(submit({ domain: "red" }));
    c.place(2, "n3");
    c.apply(fabric([], "down"), { ...fabric([], "down", 1001), key: "physics/red" } as Command);
    expect(lines(c.apply(fabric(["n1", "n2"])))).not.toContain("notice cleared (fabric_unavailable)");
    const last = { ...fabric(["n3"], "", 1001), key: "physics/red" } as Command;
    expect(lines(c.apply(last))).toContain("notice cleared (fabric_unavailable)");
  });
});
