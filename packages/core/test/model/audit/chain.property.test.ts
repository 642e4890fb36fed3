// The chain of the audit log: any change, gap, insertion or exchange of records is found, and found at its place.

import { type AuditRecord, auditHash, brokenChain, chainOf, instant, logIndex } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

function chain(length: number, first = 1, before = ""): readonly AuditRecord[] {
  const records: AuditRecord[] = [];
  let prev = before;
  for (let n = first; n < first + length; n += 1) {
    const body = {
      n,
      index: logIndex(n * 2),
      at: instant(n * 1000),
      user: "ada" as AuditRecord["user"],
      action: "node.drain",
      scope: "nodes" as const,
      detail: `fan ${n}`,
      prev,
    };
    prev = auditHash(body);
    records.push({ ...body, hash: prev });
  }
  return records;
}

const lengths = fc.integer({ min: 2, max: 12 });

describe("an audit chain", () => {
  it("that was not touched is sound, from its start and from its middle", () => {
    const records = chain(10);
    expect(brokenChain(records, "")).toBeNull();
    expect(brokenChain(records, null)).toBeNull();
    expect(brokenChain(records.slice(4), records[3]?.hash ?? "")).toBeNull();
    expect(brokenChain(records.slice(4), null)).toBeNull();
    expect(brokenChain([], "")).toBeNull();
  });

  it("is rejected when it begins with an unexpected record", () => {
    expect(brokenChain(chain(3, 1, "other"), "")).toEqual({
      n: 1,
      problem: "record 1 does not follow the one before it",
    });
  });

  it.each<[string, Partial<AuditRecord>]>([
    ["user", { user: "eve" as AuditRecord["user"] }],
    ["detail", { detail: "fan 4 " }],
    ["time", { at: instant(1) }],
    ["index", { index: logIndex(1) }],
    ["action", { action: "node.enable" }],
    ["scope", { scope: "work" }],
    ["a field that was not there", { tenant: "physics" as never }],
    ["hash", { hash: "0".repeat(64) }],
  ])("reveals a changed %s", (_name, change) => {
    const records = chain(6).map((record) => (record.n === 4 ? { ...record, ...change } : record));
    expect(brokenChain(records, "")).toEqual({ n: 4, problem: "record 4 was changed" });
  });

  it("reveals a change with a recomputed hash by the record after it", () => {
    const records = chain(6).map((record) => {
      if (record.n !== 4) return record;
      const { hash: _, ...body } = { ...record, detail: "changed" };
      return { ...body, hash: auditHash(body) };
    });
    expect(brokenChain(records, "")).toEqual({ n: 5, problem: "record 5 does not follow the one before it" });
  });

  it("reveals a missing record, wherever it was", () => {
    fc.assert(
      fc.property(lengths, fc.nat(), (length, at) => {
        const records = [...chain(length)];
        const gone = at % (length - 1);
        records.splice(gone, 1);
        const broken = brokenChain(records, "");
        expect(broken?.n).toBe(gone + 2);
      }),
    );
  });

  it("reveals two exchanged records", () => {
    fc.assert(
      fc.property(lengths, fc.nat(), fc.nat(), (length, a, b) => {
        const [i, j] = [a % length, b % length];
        fc.pre(i !== j);
        const records = [...chain(length)];
        [records[i], records[j]] = [records[j] as AuditRecord, records[i] as AuditRecord];
        expect(brokenChain(records, "")).not.toBeNull();
      }),
    );
  });

  it("reveals a record that occurs twice", () => {
    fc.assert(
      fc.property(lengths, fc.nat(), (length, at) => {
        const records = [...chain(length)];
        const twice = at % length;
        records.splice(twice, 0, records[twice] as AuditRecord);
        expect(brokenChain(records, "")?.problem).toContain("missing or out of order");
      }),
    );
  });

  it("can be verified record by record, with the same result", () => {
    const records = chain(5).map((record) => (record.n === 3 ? { ...record, detail: "x" } : record));
    const next = chainOf("");
    expect(records.map((record) => next(record)?.n ?? null).slice(0, 3)).toEqual([null, null, 3]);
  });
});
