// Tables and their digests: the hash of the state depends on the records alone, not on earlier states, and only changed
// records are hashed again.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHashSum } from "../../src/state/hash-sum.ts";
import { createTable, type Table } from "../../src/state/table.ts";
import { sha256 } from "../support/cluster.ts";

interface Row {
  readonly n: number;
}

const KEYS = ["a", "b", "c", "d"];
const change = fc.tuple(fc.constantFrom("set", "delete", "digest", "warm"), fc.constantFrom(...KEYS), fc.nat(3));

function applied(changes: readonly (readonly [string, string, number])[]): Table<string, Row> {
  const table = createTable<string, Row>("t");
  for (const [kind, key, n] of changes) {
    if (kind === "set") table.set(key, { n });
    else if (kind === "delete") table.delete(key);
    else if (kind === "digest") table.digest(sha256);
    else table.warm(sha256, n);
  }
  return table;
}

const rebuilt = (table: Table<string, Row>): Table<string, Row> => {
  const fresh = createTable<string, Row>("t");
  for (const [key, record] of [...table.entries()].toReversed()) fresh.set(key, record);
  return fresh;
};

describe("the digest of a table", () => {
  it("depends on the records only, whatever was set, deleted and hashed before", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const table = applied(changes);
        expect(table.digest(sha256)).toBe(rebuilt(table).digest(sha256));
        expect(table.dirty).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it("differs for a different record, key, name or number of records", () => {
    const digest = (name: string, ...rows: readonly (readonly [string, number])[]): string => {
      const table = createTable<string, Row>(name);
      for (const [key, n] of rows) table.set(key, { n });
      return table.digest(sha256);
    };
    const all = [
      digest("t"),
      digest("t", ["a", 1]),
      digest("t", ["a", 2]),
      digest("t", ["b", 1]),
      digest("u", ["a", 1]),
      digest("t", ["a", 1], ["b", 1]),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it("hashes only the records that changed since the last digest", () => {
    let hashed = 0;
    const counting = (text: string): string => {
      hashed += 1;
      return sha256(text);
    };
    const table = createTable<string, Row>("t");
    for (let n = 0; n < 100; n += 1) table.set(`k${n}`, { n });
    table.digest(counting);
    expect(hashed).toBe(100);
    table.set("k5", { n: 77 });
    table.delete("k6");
    table.digest(counting);
    expect(hashed).toBe(101);
    table.digest(counting);
    expect(hashed).toBe(101);
  });

  it("is the same for records that were hashed in advance, which are not hashed again", () => {
    const table = createTable<string, Row>("t");
    for (let n = 0; n < 10; n += 1) table.set(`k${n}`, { n });
    expect(table.warm(sha256, 4)).toBe(4);
    expect(table.dirty).toBe(6);
    expect(table.warm(sha256, 100)).toBe(6);
    expect(table.digest(sha256)).toBe(rebuilt(table).digest(sha256));
  });
});

describe("a table", () => {
  it("reports every key that is set or deleted", () => {
    const seen: string[] = [];
    const table = createTable<string, Row>("t", (key) => seen.push(key));
    table.set("a", { n: 1 });
    table.setAll(["b", "c"], [{ n: 2 }, { n: 3 }]);
    table.delete("b");
    expect(seen).toEqual(["a", "b", "c", "b"]);
    expect([...table.keys()]).toEqual(["a", "c"]);
  });

  it("reports many keys at once to a reader that asks for it", () => {
    const lists: (readonly string[])[] = [];
    const table = createTable<string, Row>("t", undefined, (keys) => lists.push(keys));
    table.setAll(["a", "b"], [{ n: 1 }, { n: 2 }]);
    expect(lists).toEqual([["a", "b"]]);
    expect([table.size, table.get("b"), table.has("z")]).toEqual([2, { n: 2 }, false]);
  });

  it("keeps the place of a replaced record", () => {
    const table = applied([
      ["set", "a", 1],
      ["set", "b", 1],
      ["set", "a", 2],
    ]);
    expect([...table.values()]).toEqual([{ n: 2 }, { n: 1 }]);
  });

  it("hashes an old record without losing the current one", () => {
    const table = createTable<string, Row>("t");
    const old = { n: 1 };
    table.set("a", old);
    const before = table.hashFor("a", old, sha256);
    table.set("a", { n: 2 });
    expect(table.hashFor("a", old, sha256)).toBe(before);
    expect(table.digest(sha256)).toBe(rebuilt(table).digest(sha256));
  });
});

describe("a sum of hashes", () => {
  const hashes = fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }).map((list) => list.map((n) => sha256(`${n}`)));

  it("does not depend on the order, and removing a hash leaves no trace", () => {
    fc.assert(
      fc.property(hashes, fc.nat(), (list, extra) => {
        const [one, other] = [createHashSum(), createHashSum()];
        for (const hash of list) one.add(hash);
        other.add(sha256(`extra ${extra}`));
        for (const hash of list.toReversed()) other.add(hash);
        expect(other.text()).not.toBe(one.text());
        other.take(sha256(`extra ${extra}`));
        expect(other.text()).toBe(one.text());
      }),
    );
  });

  it("of nothing is zero, and of one hash is that hash", () => {
    const sum = createHashSum();
    expect(sum.text()).toBe("0".repeat(64));
    sum.add(sha256("x"));
    expect(sum.text()).toBe(sha256("x"));
    sum.add("f".repeat(64));
    expect(sum.text()).toHaveLength(64);
  });

  it("refuses values that are no 256-bit hashes", () => {
    expect(() => createHashSum().add("abc")).toThrow("expected a hash of 64 hex digits");
  });
});
