// The parts of the etcd engine that only decide: which changes of membership are safe, which
// snapshots stay, when a member is defragmented, how keys and records are read.

import { logIndex, term } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refuseAdd, refuseRemove } from "../../src/log/etcd/cluster.ts";
import { keysUnder } from "../../src/log/etcd/keys.ts";
import { decideMaintenance } from "../../src/log/etcd/maintenance.ts";
import { joiningFlags, runningFlags } from "../../src/log/etcd/managed/command-line.ts";
import type { SnapshotDescriptor } from "../../src/log/etcd/metadata.ts";
import { decodeRecord, frameOf, inlineRecord, lastIndexOf, partsRecord } from "../../src/log/etcd/record.ts";
import { choose } from "../../src/log/etcd/snapshots.ts";
import { entries } from "./entries.ts";

/** `+` answers, `-` does not, `l` is a learner that answers. */
const members = (health: string) =>
  [...health].map((letter, n) => ({
    ...{ id: `${n}`, name: `m${n}`, peerUrls: [] },
    ...{ healthy: letter !== "-", learner: letter === "l" },
  }));

describe("changes of membership", () => {
  test.each([
    ["+", null],
    ["++", null],
    ["+++", null],
    ["++-", "with one more member 3 of 4 must answer, and 2 do"],
    ["+-", "with one more member 2 of 3 must answer, and 1 do"],
    ["++++-", null],
    ["+l", "the member at m1 was added before and has not caught up; start it, or remove it"],
  ])("adding to %s", (health, refusal) => {
    const said = refuseAdd(members(health));
    if (refusal === null) expect(said).toBeNull();
    else expect(said).toContain(refusal);
  });

  test.each([
    ["+", 0, "it is the last member"],
    ["++", 0, null],
    ["+-", 1, "for any change 2 of 2 must answer, and 1 do"],
    ["+-", 0, "for any change 2 of 2 must answer, and 1 do"],
    ["++-", 2, null],
    ["++-", 0, "without it 2 of 2 must answer, and 1 do"],
    ["+l", 1, null],
    ["+l", 0, "it is the last member"],
    ["++-l", 0, "without it 2 of 2 must answer, and 1 do"],
    ["+++--", 4, null],
    ["+++--", 0, "without it 3 of 4 must answer, and 2 do"],
  ])("removing from %s number %i", (health, n, refusal) => {
    const said = refuseRemove(members(health), `${n}`);
    if (refusal === null) expect(said).toBeNull();
    else expect(said).toContain(refusal);
  });
});

describe("retained snapshots", () => {
  const snapshot = (index: number, bytes = 1): SnapshotDescriptor => ({
    index: logIndex(index),
    term: term(1),
    bytes,
    takenAtMs: index,
    id: `${index}:${bytes}`,
    pieces: 1,
    sha256: "",
  });
  const GIB = 1024 ** 3;

  test.each([
    ["the newest ones up to the limit", [9, 8, 7, 6].map((n) => snapshot(n)), ["9:1", "8:1", "7:1"]],
    ["one per index", [snapshot(9, 2), snapshot(9, 1), snapshot(8)], ["9:2", "8:1"]],
    ["two, however heavy", [9, 8, 7].map((n) => snapshot(n, GIB)), [`9:${GIB}`, `8:${GIB}`]],
    ["none", [], []],
  ])("%s", (_name, all, kept) => expect([...choose(all, 3)]).toEqual(kept));
});

describe("when a member is defragmented", () => {
  const MIB = 1024 * 1024;
  const HOUR = 60 * 60_000;
  test.each([
    ["small", { fileBytes: 100 * MIB, usedBytes: 1, full: false, leads: false }, HOUR, "nothing"],
    [
      "large and mostly free",
      { fileBytes: 600 * MIB, usedBytes: 200 * MIB, full: false, leads: false },
      HOUR,
      "defragment",
    ],
    ["just done", { fileBytes: 600 * MIB, usedBytes: 200 * MIB, full: false, leads: false }, 1, "nothing"],
    ["leading", { fileBytes: 600 * MIB, usedBytes: 200 * MIB, full: false, leads: true }, HOUR, "nothing"],
    ["leading and full", { fileBytes: 600 * MIB, usedBytes: 500 * MIB, full: true, leads: true }, HOUR, "defragment"],
    ["full, a moment after", { fileBytes: 600 * MIB, usedBytes: 600 * MIB, full: true, leads: true }, 1_000, "nothing"],
  ] as const)("%s", (_name, member, since, due) => expect(decideMaintenance(member, since)).toBe(due));
});

describe("keys and records", () => {
  const keys = keysUnder("/lattice/main");

  test("keys sort like their indexes, and the watch covers only the log and its metadata", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (a, b) => {
        expect(Math.sign(Buffer.compare(keys.log(a), keys.log(b)))).toBe(Math.sign(a - b));
        expect(keys.parse(keys.log(a))).toEqual({ kind: "log", index: a });
      }),
    );
    const watched = (key: Buffer) => key.compare(keys.watched.key) >= 0 && key.compare(keys.watched.rangeEnd) < 0;
    const inside = [
      keys.log(1),
      keys.head,
      keys.first,
      keys.term,
      keys.leader,
      keys.server("a"),
      keys.snapshot(1, "x"),
    ];
    const outside = [keys.part(1, "x", 0), keys.snapshotData("x", 0), keysUnder("/lattice/n").log(1)];
    expect(inside.map(watched)).toEqual(inside.map(() => true));
    expect(outside.map(watched)).toEqual(outside.map(() => false));
  });

  test("a changed record is corrupt", () => {
    const record = inlineRecord(frameOf(entries(term(3), 7, "a", "bc")));
    expect(decodeRecord(7, record)).toEqual({ kind: "inline", entries: entries(term(3), 7, "a", "bc") });
    expect(lastIndexOf(7, decodeRecord(7, record))).toBe(8);
    fc.assert(
      fc.property(fc.nat(record.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const changed = Buffer.from(record);
        changed[at] = (changed[at] ?? 0) ^ by;
        expect(() => decodeRecord(7, changed)).toThrow();
      }),
    );
    expect(() => decodeRecord(8, record)).toThrow("entry 8 in etcd: its header is damaged");
    const parts = partsRecord({ first: 7, count: 3, id: "ab", parts: 2 });
    expect(lastIndexOf(7, decodeRecord(7, parts))).toBe(9);
    expect(() => decodeRecord(6, parts)).toThrow("its list of parts is damaged");
  });
});

test("the command line of a member", () => {
  const tls = { ca: "ca", cert: "c", key: "k" };
  const at = {
    name: "lattice-1",
    peer: "lattice-01:9000",
    peerListen: null,
    clientListen: "127.0.0.1:2379",
    dataDir: "d",
  };
  const flags = runningFlags({ ...at, tls: null, clientTls: null }).join(" ");
  expect(flags).toContain(
    "--listen-peer-urls http://0.0.0.0:9000 --initial-advertise-peer-urls http://lattice-01:9000",
  );
  expect(runningFlags({ ...at, peer: "[::1]:9000", tls: null, clientTls: null })).toContain("http://[::1]:9000");
  const secured = runningFlags({ ...at, tls, clientTls: tls });
  expect(secured.filter((flag) => flag.includes("allowed"))).toEqual([]);
  const members = { ...tls, memberName: "etcd.lattice.internal" };
  expect(runningFlags({ ...at, tls: members, clientTls: members }).join(" ")).toMatch(
    /--client-cert-allowed-hostname etcd\.lattice\.internal .*--peer-cert-allowed-hostname etcd\.lattice\.internal/,
  );
  const own = runningFlags({ ...at, tls: null, clientTls: tls }).join(" ");
  expect(own).toContain("--listen-peer-urls http://");
  expect(own).toContain("--listen-client-urls https://127.0.0.1:2379");
  expect(secured).toContain("--peer-client-cert-auth");
  expect(secured).toContain("https://127.0.0.1:2379");
  expect(joiningFlags([at, { name: "lattice-2", peer: "b:9000" }], tls)).toEqual([
    "--initial-cluster",
    "lattice-1=https://lattice-01:9000,lattice-2=https://b:9000",
    "--initial-cluster-state",
    "existing",
  ]);
});
