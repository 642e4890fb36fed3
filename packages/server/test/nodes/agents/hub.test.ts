// One stream per node; heartbeats count only forwards and only from the current stream.

import type { NodeId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type AgentSession, createAgentHub } from "../../../src/nodes/agents/hub.ts";
import { createTestClock } from "../../base/clock.ts";

const session = (node: string) => {
  const ended: string[] = [];
  const sent: string[] = [];
  const self: AgentSession = {
    node: node as NodeId,
    protocol: 1,
    send: (message) => sent.push(String(message.case)),
    end: (reason) => ended.push(reason),
  };
  return { self, ended, sent };
};

describe("agent hub", () => {
  it("ends the older stream of a node", () => {
    const hub = createAgentHub(createTestClock());
    const old = session("n1");
    const fresh = session("n1");
    hub.add(old.self);
    hub.add(fresh.self);
    expect(old.ended).toHaveLength(1);
    expect(hub.count).toBe(1);
    hub.remove(old.self);
    expect(hub.connected("n1" as NodeId)).toBe(true);
    hub.remove(fresh.self);
    expect(hub.connected("n1" as NodeId)).toBe(false);
    expect(hub.count).toBe(0);
  });

  it("accepts a heartbeat only with a higher sequence number", async () => {
    const clock = createTestClock();
    const hub = createAgentHub(clock);
    const { self } = session("n1");
    hub.add(self);
    expect(hub.heard(self, 1)).toBe(true);
    const heardAt = hub.lastHeard(self.node);
    await clock.advance(5_000);
    expect(hub.heard(self, 1)).toBe(false);
    expect(hub.heard(self, 0)).toBe(false);
    expect(hub.lastHeard(self.node)).toBe(heardAt);
    expect(hub.heard(self, 2)).toBe(true);
    expect(hub.lastHeard(self.node)).toBe(clock.now());
  });

  it("remembers the last heartbeat after the stream has ended", () => {
    const hub = createAgentHub(createTestClock());
    const { self } = session("n1");
    hub.add(self);
    hub.remove(self);
    expect(hub.lastHeard(self.node)).not.toBeNull();
    expect(hub.send(self.node, { case: "ack", value: {} as never })).toBe(false);
  });
});
