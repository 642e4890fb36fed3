// The address under which a node is reached: that of its agent's connection, or the one that an administrator has set.
// A follower that relays an agent states the address it sees, and proves that it is a server. The agent itself states
// none, because the proxy to services connects to it from the server's machine.

import { isIP } from "node:net";
import type { Metadata } from "@grpc/grpc-js";
import type { NodeId } from "@lattice/core";
import { AGENT_ADDRESS_HEADER, PEER_TOKEN_HEADER } from "../../base/auth/peer-headers.ts";
import { isLoopback } from "../../base/config/index.ts";

interface AddressedCall {
  readonly metadata?: Metadata;
  getPeer?(): string;
}

interface AddressOptions {
  readonly peerToken: string;
  /** Addresses set by an administrator, by node. */
  readonly configured: () => Readonly<Record<string, string>>;
}

export const createAgentAddress =
  ({ peerToken, configured }: AddressOptions) =>
  (call: AddressedCall, node: NodeId): string =>
    configured()[node] ?? relayed(call, peerToken) ?? connectionAddress(call);

/** Returns the remote address without its port, in one spelling; empty when the call has none. */
export function connectionAddress(call: AddressedCall): string {
  const peer = call.getPeer?.() ?? "";
  // An IPv6 address has no brackets here, so only the last colon separates the port.
  const host = peer.slice(0, peer.lastIndexOf(":"));
  const text = host.replace(/^\[|\]$/g, "").replace(/^::ffff:(?=[0-9]+\.)/i, "");
  if (isIP(text) === 0) return "";
  return isLoopback(text) ? "127.0.0.1" : text;
}

function relayed({ metadata }: AddressedCall, peerToken: string): string | null {
  const [token] = metadata?.get(PEER_TOKEN_HEADER) ?? [];
  const [address] = metadata?.get(AGENT_ADDRESS_HEADER) ?? [];
  return token === peerToken && typeof address === "string" ? address : null;
}
