// Snapshots: a saved state is restored, and a damaged snapshot is refused.

import { beginRestore, createState, SnapshotError, type State, snapshotLines, stateHash } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { cancel, createCluster, origin, register, sha256, submit } from "./support/cluster.ts";

const restore = (lines: Iterable<string>): State => {
  const reader = beginRestore(sha256);
  for (const line of lines) reader.line(line);
  return reader.finish();
};

const busy = () => {
  const c = createCluster(register("n1"), register("n2"), submit({}, origin("r1")), submit(), submit());
  c.place(1, "n1");
  c.apply(cancel(2));
  return c;
};

describe("snapshot", () => {
  it("restores to the same hash, also from an empty state", () => {
    const { state } = busy();
    expect(stateHash(restore(snapshotLines(state, sha256)), sha256)).toBe(stateHash(state, sha256));
    expect(restore(snapshotLines(createState(), sha256)).index).toBe(0);
  });

  it("contains the state at the time it was taken, however late it is read", () => {
    const c = busy();
    const lines = snapshotLines(c.state, sha256);
    const then = stateHash(c.state, sha256);
    c.apply(submit(), cancel(1));
    expect(stateHash(restore(lines), sha256)).toBe(then);
    expect([...lines]).toEqual([...lines]);
  });

  it("is rejected when a part is missing, changed or too new", () => {
    const lines = [...snapshotLines(busy().state, sha256)];
    const damaged: readonly (readonly [RegExp, readonly string[]])[] = [
      [/without a footer/, lines.slice(0, -1)],
      [/lines where its footer has/, lines.filter((_, i) => i !== 3)],
      [/after its footer/, [...lines, "nodes {}"]],
      [/damaged/, lines.map((line) => line.replace('"ada"', '"eve"'))],
      [/not readable/, lines.map((line, i) => (i === 2 ? line.slice(0, -5) : line))],
      [/not readable/, lines.map((line) => (line.startsWith("nodes") ? "nodes null" : line))],
      [/unknown table/, lines.map((line) => line.replace(/^nodes/, "planets"))],
      [/version 3.*upgrade this server/, lines.map((line) => line.replace('"snapshot":1', '"snapshot":3'))],
      [/line 1 .* not readable/, lines.slice(1)],
      [/header/, ["[]"]],
      [/incomplete/, ['{"snapshot":1}']],
      [/without a footer/, []],
    ];
    for (const [message, text] of damaged) {
      expect(() => restore(text)).toThrow(SnapshotError);
      expect(() => restore(text)).toThrow(message);
    }
    const swapped = lines.map((line) => line.replace(/^allocations \{"id":"1"/, 'allocations {"id":"9"'));
    expect(() => restore(swapped)).toThrow(/out of order/);
  });
});

describe("state hash", () => {
  it("covers every table and counter, and does not depend on earlier states", () => {
    const [a, b] = [busy(), busy()];
    expect(stateHash(a.state, sha256)).toBe(stateHash(b.state, sha256));
    // Asking in between must not matter.
    a.apply(submit());
    stateHash(a.state, sha256);
    a.apply(cancel(3));
    b.apply(submit());
    b.apply(cancel(3));
    expect(stateHash(a.state, sha256)).toBe(stateHash(b.state, sha256));
    const seen = new Set([stateHash(a.state, sha256)]);
    const changes: readonly ((state: State) => void)[] = [
      (s) => Object.assign(s, { index: s.index + 1 }),
      (s) => Object.assign(s, { at: s.at + 1 }),
      (s) => Object.assign(s, { retention: { ...s.retention, maxFinished: 1 } }),
      (s) => Object.assign(s.counters, { nextAllocation: 99 }),
      (s) => Object.assign(s.counters, { nextRequest: 99 }),
      (s) => Object.assign(s.counters, { nextFinished: 99 }),
      (s) => s.tables.finished.delete("1"),
      (s) => s.tables.requests.delete("1"),
      (s) => s.tables.tenants.delete("physics" as never),
      (s) => s.tables.vclusters.delete("batch" as never),
      (s) => s.tables.nodes.delete("n2" as never),
      (s) => s.tables.allocations.delete("1" as never),
    ];
    for (const change of changes) {
      change(a.state);
      seen.add(stateHash(a.state, sha256));
    }
    expect(seen.size).toBe(changes.length + 1);
  });
});
