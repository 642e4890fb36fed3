// Reading a snapshot: a line that is missing, changed, repeated, moved or of a newer program makes it unreadable, with a
// message that names the line; a sound one gives the same state.

import { beginRestore, SnapshotError, type State, snapshotLines, stateHash } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  createCluster,
  grant,
  register,
  setConfig,
  sha256,
  submit,
  submitDag,
  submitGroup,
  tenant,
} from "../support/cluster.ts";

function lines(): readonly string[] {
  const c = createCluster(tenant("physics"), register("n1"), register("n2"), setConfig("a.b", "1"));
  c.apply(submit(), submit({}, undefined), submitGroup([0, 3], 1), submitDag({ a: {}, b: { after: ["a:any"] } }));
  c.apply(grant("grant.add", "physics", "bob"));
  c.place(1, "n1");
  return [...snapshotLines(c.state, sha256)];
}

function restored(text: readonly string[]): State {
  const reader = beginRestore(sha256);
  for (const line of text) reader.line(line);
  return reader.finish();
}

const LINES = lines();
const at = (n: number): string => LINES[n] ?? "";
const replaced = (n: number, line: string): readonly string[] => LINES.map((one, i) => (i === n ? line : one));
const last = LINES.length - 1;
const header = (change: object): readonly string[] =>
  replaced(0, JSON.stringify({ ...(JSON.parse(at(0)) as object), ...change }));

describe("a snapshot", () => {
  it("restores the same state, which writes the same text", () => {
    const state = restored(LINES);
    expect([...snapshotLines(state, sha256)]).toEqual(LINES);
    expect(stateHash(state, sha256)).toBe((JSON.parse(at(0)) as { stateHash: string }).stateHash);
  });

  it("restored twice gives two states that share no changes", () => {
    const [one, other] = [restored(LINES), restored(LINES)];
    one.counters.nextAllocation += 1;
    expect(other.counters.nextAllocation).toBe(one.counters.nextAllocation - 1);
  });

  it("is rejected without any one of its lines", () => {
    for (let n = 0; n <= last; n += 1) {
      const without = LINES.filter((_, i) => i !== n);
      expect(() => restored(without), `line ${n + 1}`).toThrow(SnapshotError);
    }
  });

  it("is rejected with any one of its lines twice", () => {
    for (let n = 0; n <= last; n += 1) {
      const twice = [...LINES.slice(0, n), at(n), ...LINES.slice(n)];
      expect(() => restored(twice), `line ${n + 1}`).toThrow(SnapshotError);
    }
  });

  it("is rejected when a digit of any record is changed", () => {
    for (let n = 1; n < last; n += 1) {
      const changed = at(n).replace(/\d(?=[,}])/, (digit) => String((Number(digit) + 1) % 10));
      if (changed === at(n)) continue;
      expect(() => restored(replaced(n, changed)), at(n).slice(0, 60)).toThrow();
    }
  });

  it.each<[string, readonly string[]]>([
    ["that is empty", []],
    ["with a header that is no JSON", replaced(0, "{")],
    ["with an incomplete header", replaced(0, JSON.stringify({ snapshot: 1, index: 1 }))],
    ["with another state hash", header({ stateHash: "0".repeat(64) })],
    ["with another index", header({ index: 77 })],
    ["with other counters", header({ counters: { nextAllocation: 99, nextRequest: 1, nextFinished: 1 } })],
    ["with another retention", header({ retention: { maxFinished: 1, maxFinishedAge: 1 } })],
    ["with an unknown table", replaced(1, 'planets {"id":"x"}')],
    ["with a table named like a method", replaced(1, "constructor {}")],
    ["with a record that is no JSON", replaced(1, "tenants {")],
    ["with a footer that counts wrong", replaced(last, '{"lines":3}')],
    ["with a line after its footer", [...LINES, at(1)]],
    ["whose lines are reversed", LINES.toReversed()],
  ])("is rejected when %s", (_name, text) => {
    expect(() => restored(text)).toThrow();
  });

  it("of a newer version is rejected with the remedy", () => {
    expect(() => restored(header({ snapshot: 2 }))).toThrow("upgrade this server before it can continue");
  });

  it("with allocations out of order is rejected with the number of the line", () => {
    const places = LINES.flatMap((line, n) => (line.startsWith("allocations ") ? [n] : []));
    const [first = 0, second = 0] = places;
    const moved = LINES.map((line, n) => (n === first ? at(second) : n === second ? at(first) : line));
    expect(() => restored(moved)).toThrow(`line ${second + 1} of the snapshot is out of order`);
  });
});
