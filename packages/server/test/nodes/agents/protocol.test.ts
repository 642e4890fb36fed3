// Negotiation of the protocol version with the hello: the newest common version, or a refusal with both ranges.

import { create } from "@bufbuild/protobuf";
import { createState, type LogIndex, type NodeId } from "@lattice/core";
import { pb } from "@lattice/wire";
import { pino } from "pino";
import { expect, test } from "vitest";
import { type ConnectCall, type ConnectContext, handleConnect } from "../../../src/nodes/agents/connect.ts";
import { type AgentSession, createAgentHub } from "../../../src/nodes/agents/hub.ts";
import { createTestClock } from "../../base/clock.ts";

async function greet(protocolVersion: number) {
  const clock = createTestClock();
  const hub = createAgentHub(clock);
  const sessions: AgentSession[] = [];
  const context: ConnectContext = {
    view: () => createState(),
    propose: async () => ({ outcome: { kind: "accepted", value: null }, index: 1 as LogIndex }) as never,
    hub: {
      ...hub,
      add(session) {
        sessions.push(session);
        hub.add(session);
      },
    },
    clock,
    logger: pino({ level: "silent" }),
    serverVersion: "test",
    heartbeatIntervalMs: 1_000,
    refusal: () => null,
  };
  const said: pb.ServerMessage["message"][] = [];
  let ended = false;
  let receive: (message: pb.AgentMessage) => void = () => undefined;
  const call: ConnectCall = {
    write: (message) => said.push(message.message),
    end: () => {
      ended = true;
    },
    on(event: string, listener: (message: pb.AgentMessage) => void) {
      if (event === "data") receive = listener;
    },
  };
  handleConnect(context, call);
  const value = create(pb.HelloSchema, { nodeId: "n1", protocolVersion, capabilities: create(pb.CapabilitiesSchema) });
  receive(create(pb.AgentMessageSchema, { message: { case: "hello", value } }));
  await expect.poll(() => said.length).toBeGreaterThan(0);
  const beat = (sequence: number, echo: boolean): void =>
    receive(
      create(pb.AgentMessageSchema, {
        message: { case: "heartbeat", value: create(pb.HeartbeatSchema, { sequence, echo }) },
      }),
    );
  return { said: said[0], all: said, beat, ended, session: sessions[0], connected: hub.connected("n1" as NodeId) };
}

test("only a heartbeat that requests an echo is answered", async () => {
  const { all, beat } = await greet(1);
  const before = all.length;
  beat(1, true);
  beat(2, false);
  beat(3, true);
  expect(all.slice(before)).toMatchObject([
    { case: "heartbeatEcho", value: { sequence: 1 } },
    { case: "heartbeatEcho", value: { sequence: 3 } },
  ]);
});

test.each([
  { name: "the same", agent: 1, agreed: 1 },
  { name: "one newer, which still speaks ours", agent: 2, agreed: 1 },
])("an agent of $name is welcome, and the agreed version is remembered", async ({ agent, agreed }) => {
  const { said, session, connected } = await greet(agent);
  expect(said).toMatchObject({ case: "welcome", value: { protocolVersion: agreed } });
  expect(session?.protocol).toBe(agreed);
  expect(connected).toBe(true);
});

test.each([
  {
    name: "too new",
    agent: 4,
    code: "protocol_too_new",
    detail: "version 1 here, versions 3 and 4 there",
    who: "servers",
  },
  { name: "too old", agent: 0, code: "protocol_too_old", detail: "version 1 here, version 0 there", who: "agent" },
])("an agent that is $name is refused, with both ranges named", async ({ agent, code, detail, who }) => {
  const { said, ended, session } = await greet(agent);
  expect(said).toMatchObject({ case: "refused", value: { code } });
  const words = said?.case === "refused" ? said.value.detail : "";
  expect(words).toContain(detail);
  expect(words).toContain(`upgrade the ${who}`);
  expect(ended).toBe(true);
  expect(session).toBeUndefined();
});
