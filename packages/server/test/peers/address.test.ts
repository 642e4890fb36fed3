// How servers name themselves to each other, across versions: the version before takes three words and no other.

import { credentials } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { formatPeer, parsePeer, peerToken } from "../../src/peers/address.ts";
import { createRoster } from "../../src/peers/roster.ts";

const peer = { id: "server-1", address: "host:50051", token: peerToken("5ec2e7", 2), entryVersion: 2 };

describe("a server's name", () => {
  it("tells all of it in three words", () => {
    expect(formatPeer(peer).split(" ")).toHaveLength(3);
    expect(parsePeer(formatPeer(peer))).toEqual(peer);
  });

  it("of a server of the first version has no version", () => {
    expect(parsePeer("server-1 host:50051 5ec2e7")).toEqual({ ...peer, token: "5ec2e7", entryVersion: 1 });
  });

  it("may say more in later versions, and is no name without address and token", () => {
    expect(parsePeer("server-1 host:50051 5ec2e7~3 more")?.entryVersion).toBe(3);
    expect([parsePeer("server-1"), parsePeer("server-1 host:50051")]).toEqual([null, null]);
  });
});

describe("who reads the log", () => {
  it("includes servers of the first version, which tell their address alone and cannot be called", () => {
    const present = () => [
      { id: "server-1", name: formatPeer(peer) },
      { id: "server-2", name: "host:50052" },
      { id: "server-3", name: formatPeer({ ...peer, id: "server-3" }) },
    ];
    const roster = createRoster({ selfId: "server-3", present, credentials: credentials.createInsecure() });
    expect(roster.others().map(({ id }) => id)).toEqual(["server-1"]);
    expect(roster.readers()).toEqual([peer, { id: "server-2", entryVersion: 1 }]);
    roster.close();
  });
});
