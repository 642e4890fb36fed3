// `lattice admin raft`: members shown, added, removed, and the transfer of leadership.

import { describe, expect, test } from "vitest";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const etcd = { id: "a1", name: "lattice-1", leader: true, healthy: true, database_bytes: 3_145_728, raft_term: "4" };
const members = [
  { id: "server-1", address: "h1:50051", leader: true, healthy: true, applied_index: "9", lag: 0, etcd },
  { id: "server-2", healthy: false, etcd: { id: "a2", name: "" } },
];

describe("admin raft", () => {
  test("status shows a dash for unknown values of a member", async () => {
    rig.answers = { "GET /api/v1/raft/status": [200, { engine: "etcd", leader: "server-1", writable: true, members }] };
    expect(await rig.run("admin", "raft", "status")).toBe(0);
    expect(rig.out).toMatch(/server-1 +h1:50051 +yes +yes +9 +0 .*lattice-1 +a1 +yes +yes +3\.0 MB +4/);
    expect(rig.out).toMatch(/server-2 +— +no +no +— +— +— +— +\(not started\) +a2 +no +no +—/);
  });

  test("status shows the state hash of each member and who has diverged", async () => {
    const state = { state_hash: "0123456789abcdef".repeat(4), state_index: "9" };
    const other = { ...members[0], id: "server-3", ...state, diverged: true };
    const body = { engine: "etcd", writable: true, members: [{ ...members[0], ...state }, other] };
    rig.answers = { "GET /api/v1/raft/status": [200, body] };
    expect(await rig.run("admin", "raft", "status")).toBe(0);
    expect(rig.out).toMatch(/server-1 .*0123456789ab at 9 +—/);
    expect(rig.out).toMatch(/server-3 .*0123456789ab at 9 \(diverged\)/);
  });

  test("a member is added and removed", async () => {
    rig.answers = {
      "POST /api/v1/raft/members": [200, { members }],
      "DELETE /api/v1/raft/members/server-2": [200, { members: members.slice(0, 1) }],
    };
    expect(await rig.run("admin", "raft", "add-member", "server-2", "--peer-address", "h2:9000")).toBe(0);
    expect(rig.err).toContain("--join");
    expect(await rig.run("admin", "raft", "remove-member", "server-2", "-o", "json")).toBe(0);
    const paths = rig.requests.map((request) => request.split("?")[0]);
    expect(paths).toEqual(["POST /api/v1/raft/members", "DELETE /api/v1/raft/members/server-2"]);
  });

  test("a transfer that ends at another server fails", async () => {
    rig.answers = { "POST /api/v1/raft/transfer-leader": [200, { leader: "server-3", term: "7" }] };
    expect(await rig.run("admin", "raft", "transfer-leader")).toBe(0);
    expect(rig.out).toBe("Leader is server-3, term 7.\n");
    expect(await rig.run("admin", "raft", "transfer-leader", "server-2")).toBe(5);
    expect(rig.err).toContain("server-2 did not become leader in time; the leader is server-3");
  });
});
