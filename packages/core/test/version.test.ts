// Versions of entries and snapshots: the least that is needed is what is written, and what is too new
// is refused with a word on what to do.

import { readFileSync } from "node:fs";
import {
  applyEntry,
  beginRestore,
  COMMAND_VERSIONS,
  type Command,
  createState,
  decodeEntry,
  ENTRY_VERSION,
  encodeEntry,
  entryVersion,
  SNAPSHOT_VERSION,
  type State,
  snapshotLines,
  stateHash,
  VersionTooNewError,
  versionNeeded,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCluster, entryFor, origin, register, sha256, submit, vcluster } from "./support/cluster.ts";

const begin: Command = { kind: "cluster.restore_begin", origin: origin(null), restore: "backup-1" };

const restored = (lines: readonly string[]): State => {
  const reader = beginRestore(sha256);
  for (const line of lines) reader.line(line);
  return reader.finish();
};

describe("versions of commands", () => {
  it("are those of this program or of one before, for every kind", () => {
    const versions = Object.values(COMMAND_VERSIONS);
    expect(versions.length).toBeGreaterThanOrEqual(22);
    for (const version of versions) {
      expect(Number.isInteger(version)).toBe(true);
      expect(version).toBeGreaterThanOrEqual(1);
      expect(version).toBeLessThanOrEqual(ENTRY_VERSION);
    }
    // Raised for nothing, it would keep older servers out for nothing.
    expect(versions).toContain(ENTRY_VERSION);
  });

  it("count every kind of the oldest program as version 1", () => {
    const oldest = Object.entries(COMMAND_VERSIONS).filter(([, version]) => version === 1);
    expect(oldest.map(([kind]) => kind)).toHaveLength(18);
  });

  it("look into a submission for what older servers would not check", () => {
    const plain = submit();
    expect(versionNeeded(plain)).toBe(1);
    if (plain.kind !== "allocation.submit") throw new Error("not a submission");
    const { resources } = plain.spec;
    const asking = (more: object): Command => ({
      ...plain,
      spec: { ...plain.spec, resources: { ...resources, constraints: { ...resources.constraints, ...more } } },
    });
    expect(versionNeeded(asking({ requireConformance: true }))).toBe(2);
    expect(versionNeeded(asking({ requireUnifiedMemory: true }))).toBe(2);
    expect(versionNeeded(asking({ allowCxlMemory: true }))).toBe(2);
    expect(versionNeeded(asking({ storageMBps: 5 }))).toBe(2);
    expect(versionNeeded(asking({ requireConformance: false, preferSameNuma: true }))).toBe(1);
  });

  it("give an entry the least that its commands need", () => {
    expect(entryVersion([])).toBe(1);
    expect(entryVersion([vcluster("batch"), submit()])).toBe(1);
    expect(entryVersion([vcluster("batch"), begin, submit()])).toBe(2);
  });
});

describe("what a newer program wrote", () => {
  it("is not applied, and the message says what to do", () => {
    const state = createState();
    const newer = { ...entryFor(state, 1, []), version: ENTRY_VERSION + 1 };
    const message = new RegExp(`entry 1 has version ${ENTRY_VERSION + 1}.*upgrade this server`);
    expect(() => decodeEntry(encodeEntry(newer))).toThrow(VersionTooNewError);
    expect(() => applyEntry(state, newer)).toThrow(message);
    expect(state.index).toBe(0);
  });

  it("is not restored from a snapshot either", () => {
    const [header = "", ...rest] = snapshotLines(createCluster(register("n1")).state, sha256);
    const newer = JSON.stringify({ ...(JSON.parse(header) as object), snapshot: SNAPSHOT_VERSION + 1 });
    expect(() => restored([newer, ...rest])).toThrow(/upgrade this server/);
  });
});

describe("the version of a snapshot", () => {
  const versionOf = (state: State): number =>
    (JSON.parse([...snapshotLines(state, sha256)][0] ?? "") as { snapshot: number }).snapshot;

  it("is that of the version before while nothing newer was used, and it loads", () => {
    const { state } = createCluster(register("n1"), submit());
    expect(versionOf(state)).toBe(1);
    expect(restored([...snapshotLines(state, sha256)]).version).toBe(1);
  });

  it("stays new once something newer was used, so that no older program goes on from it", () => {
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
});

it("the page on upgrades names every command that the version before does not know", () => {
  const page = readFileSync(new URL("../../../docs/operating/upgrades.md", import.meta.url), "utf8");
  const newer = Object.entries(COMMAND_VERSIONS).filter(([, version]) => version > 1);
  expect(newer.map(([kind]) => kind).filter((kind) => !page.includes(`\`${kind}\``))).toEqual([]);
  const named = [...page.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map((match) => match[1] ?? "");
  expect(named.filter((kind) => !newer.some(([known]) => known === kind))).toEqual([]);
});
