// Assigning a node's home vCluster: the assignment outlives registrations, and is refused while other work runs.

import type { Command, VClusterId } from "@lattice/core";
import { expect, test } from "vitest";
import { createCluster, nodeId, origin, register, submit, vcluster } from "./support/cluster.ts";
import { verdict } from "./support/read-applied.ts";

const assign = (node: string, home: string | null): Command => ({
  kind: "node.assign",
  origin: origin(),
  node: nodeId(node),
  vcluster: home as VClusterId | null,
});

test("an assigned home vCluster stays when the agent registers another", () => {
  const c = createCluster(vcluster("lab"), register("n1"));
  expect(verdict(c.one(assign("n1", "lab")))).toBe("accepted");
  expect(c.state.node(nodeId("n1"))).toMatchObject({ homeVCluster: "lab", homeAssigned: true });
  c.apply(register("n1"));
  expect(c.state.node(nodeId("n1"))?.homeVCluster).toBe("lab");
  expect(verdict(c.one(assign("n1", "lab")))).toBe("repeated");
  expect(verdict(c.one(assign("n1", null)))).toBe("accepted");
  expect(c.state.node(nodeId("n1"))?.homeVCluster).toBeNull();
});

test("an assignment is refused for unknown names, and for a node on which other work runs", () => {
  const c = createCluster(vcluster("lab"), register("n1"), submit());
  expect(verdict(c.one(assign("n2", "lab")))).toBe("unknown_node");
  expect(verdict(c.one(assign("n1", "nowhere")))).toBe("unknown_vcluster");
  c.place(1, "n1");
  expect(verdict(c.one(assign("n1", "lab")))).toBe("illegal_transition");
  expect(c.state.node(nodeId("n1"))?.homeAssigned).toBeUndefined();
  // Work of its own vCluster may continue, and its claim keeps its terms.
  expect(verdict(c.one(assign("n1", "batch")))).toBe("accepted");
  expect(c.state.node(nodeId("n1"))).toMatchObject({ homeVCluster: "batch", homeAssigned: true });
});
