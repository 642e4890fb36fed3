// Names of servers across versions: the previous release accepts exactly three words.

import { credentials } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { formatPeer, parsePeer, peerToken } from "../../src/peers/address.ts";
import { createRoster } from "../../src/peers/roster.ts";

const peer = { id: "server-1", address: "host:50051", token: peerToken("5ec2e7", 2), entryVersion: 2 };

describe("a server's name", () => {
  it("has three words", () => {
    expect(formatPeer(peer).split(" ")).toHaveLength(3);
    expect(parsePeer(formatPeer(peer))).toEqual(peer);
  });

  it("has no version for a server of the first version", () => {
    expect(parsePeer("server-1 host:50051 5ec2e7")).toEqual({ ...peer, token: "5ec2e7", entryVersion: 1 });
  });

  it("may have more words in later versions, and needs an address and a token", () => {
    expect(parsePeer("server-1 host:50051 5ec2e7~3 more")?.entryVersion).toBe(3);
    expect([parsePeer("server-1"), parsePeer("server-1 host:50051")]).toEqual([null, null]);
  });
});

describe("the readers of the log", () => {
  it("include servers of the first version, which have only an address and cannot be called", () => {
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
