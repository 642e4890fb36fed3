// Condition reports of agents become commands: a changed fingerprint registers the node again, and a hardware fault takes
// it down once.

import { create } from "@bufbuild/protobuf";
import { type Command, createState, type LogIndex, type Node, type NodeId, type View } from "@lattice/core";
import { pb } from "@lattice/wire";
import { pino } from "pino";
import { expect, test } from "vitest";
import { type ConnectCall, handleConnect } from "../../../src/nodes/agents/connect.ts";
import { createAgentHub } from "../../../src/nodes/agents/hub.ts";
import { createTestClock } from "../../base/clock.ts";

async function agentOf(node: Node["state"]) {
  const clock = createTestClock();
  const hub = createAgentHub(clock);
  const proposed: Command[] = [];
  let known: Node | undefined;
  const empty = createState();
  const view: View = Object.assign(Object.create(empty), { node: () => known });
  let receive: (message: pb.AgentMessage) => void = () => undefined;
  const said: unknown[] = [];
  const call: ConnectCall = {
    write: (message) => said.push(message),
    end: () => undefined,
    on(event: string, listener: (message: pb.AgentMessage) => void) {
      if (event === "data") receive = listener;
    },
  };
  handleConnect(
    {
      view: () => view,
      propose: async (command) => {
        proposed.push(command);
        if (command.kind === "node.register") {
          const { kind: _, node: id, ...described } = command;
          known = { id, ...described, registeredAt: node.since, claims: [], state: node };
        }
        return { outcome: { kind: "accepted", value: null }, index: 1 as LogIndex } as never;
      },
      hub,
      clock,
      logger: pino({ level: "silent" }),
      serverVersion: "test",
      heartbeatIntervalMs: 1_000,
      refusal: () => null,
    },
    call,
  );
  const send = (message: pb.AgentMessage["message"]): void => receive(create(pb.AgentMessageSchema, { message }));
  const capabilities = create(pb.CapabilitiesSchema, { gpuCount: 4 });
  send({
    case: "hello",
    value: create(pb.HelloSchema, { nodeId: "n1", protocolVersion: 1, conformance: "aa", capabilities }),
  });
  await expect.poll(() => said.length).toBeGreaterThan(0);
  const condition = async (told: { conformance: string; faults?: string[] }): Promise<Command[]> => {
    const before = proposed.length;
    await clock.advance(60_000);
    send({ case: "condition", value: create(pb.ConditionReportSchema, { faults: [], ...told }) });
    await new Promise((resolve) => setImmediate(resolve));
    return proposed.slice(before);
  };
  return { condition, hub, clock };
}

const since = 0 as Node["state"]["since"];

test("a changed fingerprint registers the node again; the same one only updates its time", async () => {
  const { condition, hub, clock } = await agentOf({ kind: "ready", since });
  expect(await condition({ conformance: "aa" })).toEqual([]);
  expect(hub.fingerprintAt("n1" as NodeId)).toBe(clock.now());
  expect(await condition({ conformance: "bb" })).toMatchObject([
    { kind: "node.register", conformance: "bb", capabilities: { gpuCount: 4 } },
  ]);
});

test("a hardware fault takes the node down", async () => {
  const { condition } = await agentOf({ kind: "ready", since });
  expect(await condition({ conformance: "aa", faults: ["GPU 0: lost", "2 of 4 GPUs are present"] })).toEqual([
    { kind: "node.health", node: "n1", verdict: "hardware", reason: "GPU 0: lost; 2 of 4 GPUs are present" },
  ]);
});

test("a node that is already down with the fault is not changed", async () => {
  const { condition } = await agentOf({ kind: "down", since, cause: "hardware", reason: "", back: "ready" });
  expect(await condition({ conformance: "aa", faults: ["GPU 0: lost"] })).toEqual([]);
});
