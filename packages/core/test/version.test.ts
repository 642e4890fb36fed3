// Versions of entries and snapshots, with the table of a made-up next version: an entry carries the lowest version that
// its commands need, and a program rejects what is newer than itself.

import type { Command, State } from "@lattice/core";
import { afterAll, describe, expect, it, vi } from "vitest";

// Test files share one module registry, so this file loads its own copy of the programs.
vi.resetModules();
vi.doMock("../src/base/versions.ts", () => import("../../../tests/doubles/next-version.ts"));
const {
  applyEntry,
  beginRestore,
  createState,
  decodeEntry,
  encodeEntry,
  entryVersion,
  snapshotLines,
  stateHash,
  VersionTooNewError,
  versionNeeded,
} = await import("@lattice/core");
const { createCluster, entryFor, origin, register, sha256, submit, vcluster } = await import("./support/cluster.ts");
afterAll(() => {
  vi.doUnmock("../src/base/versions.ts");
  vi.resetModules();
});
const NEWEST = 2;

const begin: Command = { kind: "cluster.restore_begin", origin: origin(null), restore: "backup-1" };
const drain = (urgent: boolean): Command => ({
  kind: "node.drain",
  origin: origin(null),
  node: "n1" as never,
  reason: "",
  urgent,
});

const restored = (lines: readonly string[]): State => {
  const reader = beginRestore(sha256);
  for (const line of lines) reader.line(line);
  return reader.finish();
};

describe("the version of a command", () => {
  it.each([
    ["a command of the first version", submit(), 1],
    ["a command of the next version", begin, 2],
    ["a command without the field of the next version", drain(false), 1],
    ["a command with the field of the next version", drain(true), 2],
  ])("%s", (_, command, version) => {
    expect(versionNeeded(command)).toBe(version);
  });
});

describe("the version of an entry", () => {
  it("is the lowest version that its commands need", () => {
    expect(entryVersion([])).toBe(1);
    expect(entryVersion([vcluster("batch"), submit()])).toBe(1);
    expect(entryVersion([vcluster("batch"), begin, submit()])).toBe(2);
  });
});

describe("an entry of a newer program", () => {
  it("is not applied, and the message names the remedy", () => {
    const state = createState();
    const newer = { ...entryFor(state, 1, []), version: NEWEST + 1 };
    const message = new RegExp(`entry 1 has version ${NEWEST + 1}.*upgrade this server`);
    expect(() => decodeEntry(encodeEntry(newer))).toThrow(VersionTooNewError);
    expect(() => applyEntry(state, newer)).toThrow(message);
    expect(state.index).toBe(0);
  });
});

describe("the version of a snapshot", () => {
  const versionOf = (state: State): number =>
    (JSON.parse([...snapshotLines(state, sha256)][0] ?? "") as { snapshot: number }).snapshot;

  it("stays the previous version while no newer command was applied", () => {
    const { state } = createCluster(register("n1"), submit());
    expect(versionOf(state)).toBe(1);
    expect(restored([...snapshotLines(state, sha256)]).version).toBe(1);
  });

  it("stays new after a newer command, so that no older program continues from it", () => {
    const { state } = createCluster();
    const before = stateHash(state, sha256);
    applyEntry(state, entryFor(state, state.at, [begin]));
    applyEntry(state, entryFor(state, state.at + 1, [register("n1")]));
    expect(versionOf(state)).toBe(2);
    const twin = restored([...snapshotLines(state, sha256)]);
    expect(twin.version).toBe(2);
    expect(stateHash(twin, sha256)).toBe(stateHash(state, sha256));
    expect(stateHash(state, sha256)).not.toBe(before);
  });

  it("newer than the program is rejected", () => {
    const [header = "", ...rest] = snapshotLines(createCluster(register("n1")).state, sha256);
    const newer = JSON.stringify({ ...(JSON.parse(header) as object), snapshot: NEWEST + 1 });
    expect(() => restored([newer, ...rest])).toThrow(/upgrade this server/);
  });
});
