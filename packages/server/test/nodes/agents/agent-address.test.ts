// The address of a node: from its connection, from a server that relays it, or from an administrator.
import { Metadata } from "@grpc/grpc-js";
import { parseNodeId } from "@lattice/core";
import { expect, test } from "vitest";
import { AGENT_ADDRESS_HEADER, PEER_TOKEN_HEADER } from "../../../src/base/auth/peer-headers.ts";
import { connectionAddress, createAgentAddress } from "../../../src/nodes/agents/agent-address.ts";

const node = (name: string) => parseNodeId(name) ?? expect.fail();
const addressOf = createAgentAddress({ peerToken: "secret", configured: () => ({ n2: "10.0.0.2" }) });
const callFrom = (peer: string, headers: Record<string, string> = {}) => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { getPeer: () => peer, metadata };
};

test.each([
  ["10.1.2.3:4567", "10.1.2.3"],
  ["::ffff:10.1.2.3:4567", "10.1.2.3"],
  ["2001:db8::7:4567", "2001:db8::7"],
  ["127.0.0.5:4567", "127.0.0.1"],
  ["::ffff:127.0.0.1:4567", "127.0.0.1"],
  ["unknown", ""],
  ["", ""],
])("the connection %s has the address %s", (peer, address) => {
  expect(connectionAddress({ getPeer: () => peer })).toBe(address);
});

test("an administrator's address is preferred", () => {
  expect(addressOf(callFrom("10.1.1.1:5"), node("n1"))).toBe("10.1.1.1");
  expect(addressOf(callFrom("10.1.1.1:5"), node("n2"))).toBe("10.0.0.2");
});

test("a relayed address counts with the token of a server only", () => {
  const stated = { [AGENT_ADDRESS_HEADER]: "10.7.7.7" };
  const of = (headers: Record<string, string>) => addressOf(callFrom("10.1.1.1:5", headers), node("n1"));
  expect(of({ ...stated, [PEER_TOKEN_HEADER]: "secret" })).toBe("10.7.7.7");
  expect(of({ ...stated, [PEER_TOKEN_HEADER]: "guess" })).toBe("10.1.1.1");
  expect(of(stated)).toBe("10.1.1.1");
});
