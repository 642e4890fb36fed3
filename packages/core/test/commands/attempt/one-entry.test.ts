// Reports of all nodes of an attempt in one entry: each node keeps its own message, faults are cleared, and a report of
// another attempt is judged by itself. Also the smallest charge, and a private network domain that ends with its work.

import { attempt, type Command, DEFAULT_NETWORK, lastDays, type ReportCommand } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  deleteTenant,
  grant,
  id,
  nodeId,
  origin,
  register,
  reportOf,
  submit,
  tenant,
  tenantId,
  verdict,
} from "../../support/cluster.ts";
import { expectRejected } from "../../support/content.ts";
import { eventsOf } from "../../support/placing.ts";

function placed(...setUp: readonly Command[]): Cluster {
  const c = createCluster(register("n1"), register("n2"), ...setUp);
  c.apply(submit({ nodes: 2, lifecycle: { requeuePolicy: "always", maxRequeue: 9 } }));
  c.place(1, "n1", "n2");
  return c;
}

const say = (node: string, state: ReportCommand["state"], message: string, n = 1): Command =>
  ({ ...reportOf(1, node, attempt(n), state), message }) as Command;

describe("reports in one entry", () => {
  it("keep the message of each node", () => {
    const c = placed();
    c.apply(say("n1", "running", "cold"), say("n2", "running", "warm"));
    expect(c.state.allocation(id(1))?.phase).toMatchObject({
      kind: "running",
      progress: [{ message: "cold" }, { message: "warm" }],
    });
  });

  it("of two attempts are judged separately", () => {
    const c = placed();
    const applied = c.apply(say("n1", "running", ""), say("n2", "running", "", 2));
    expect(applied.outcomes.map(verdict)).toEqual(["accepted", "not_assigned"]);
    expect(c.phase(1)).toBe("staging");
  });

  it("of success clear the faults of the nodes", () => {
    const c = placed();
    c.report(1, "n1", "failed", "lost");
    c.apply(reportOf(1, "n2", attempt(1), "failed", "stopped"));
    expect(c.state.node(nodeId("n1"))?.faults).toHaveLength(1);
    c.place(1, "n1", "n2");
    c.apply(say("n1", "running", "", 2), say("n2", "running", "", 2));
    c.apply(say("n1", "completed", "", 2), say("n2", "completed", "", 2));
    expect([c.phase(1), c.state.node(nodeId("n1"))?.faults]).toEqual(["completed", undefined]);
  });

  it("of success release a private network domain at once", () => {
    const c = placed({ kind: "network.set", settings: { ...DEFAULT_NETWORK, autoDomains: true } });
    expect(Array.from(c.state.domains(), ({ key }) => key)).toEqual(["physics/alloc-1"]);
    c.apply(say("n1", "running", ""), say("n2", "running", ""));
    c.apply(say("n1", "completed", ""), say("n2", "completed", ""));
    expect([...c.state.domains()]).toEqual([]);
  });

  it("charge a run of one millisecond", () => {
    const c = placed();
    c.apply(say("n1", "running", ""), say("n2", "running", ""));
    c.advance(1);
    c.apply(say("n1", "completed", ""), say("n2", "completed", ""));
    expect(c.state.ledger.spent({ tenant: tenantId("physics") }, lastDays(c.state.at, 1)).nodeMs).toBe(2);
  });
});

describe("an administrator's command", () => {
  it("does not delete a tenant with a pending allocation", () => {
    expectRejected(createCluster(submit()), deleteTenant("physics"), "illegal_transition");
  });

  it("that removes a role is announced as an event", () => {
    const c = createCluster(tenant("physics"), grant("grant.add", "physics", "bob"));
    expect(eventsOf(c.apply(grant("grant.remove", "physics", "bob")), "tenant_changed")).toMatchObject([
      { tenant: "physics", to: "revoked", reason: "tenant_admin", user: "bob" },
    ]);
  });

  it.each([
    [0, "invalid_argument"],
    [1, "accepted"],
    [128, "accepted"],
    [129, "invalid_argument"],
  ])("to begin a restore with a name of %i characters is %s", (length, expected) => {
    const c = createCluster();
    const outcome = c.one({ kind: "cluster.restore_begin", origin: origin(), restore: "x".repeat(length) });
    expect(verdict(outcome)).toBe(expected);
  });
});
