// Signed records: a change of any character of a record, a removed, moved or unsigned record, and a key outside its
// range are found. The check is a stand-in with the properties of a signature; the server's tests use real ones.

import {
  type AuditKey,
  type AuditRecord,
  auditHash,
  auditKeyId,
  endorsedText,
  instant,
  logIndex,
  signedChain,
  signedText,
  verifyKeys,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../support/cluster.ts";

const publicKey = (n: number): string => `MCowBQYDK2VwAyEA${String(n).padStart(43, "0")}=`;
/** Only this function makes signatures that `check` accepts. */
const sign = (n: number, text: string): string => signatureOf(publicKey(n), text);
const check = (text: string, signature: string, key: string): boolean => signature === signatureOf(key, text);
const signatureOf = (key: string, text: string): string => `${sha256(`${key} ${text}`).padEnd(85, "0")}A==`;

/** Keys of `size` records each; the last one is current. */
function keysOf(count: number, size: number): readonly AuditKey[] {
  return Array.from({ length: count }, (_, i) => ({
    id: auditKeyId(publicKey(i)),
    publicKey: publicKey(i),
    first: i * size + 1,
    last: i === count - 1 ? null : (i + 1) * size,
    since: instant(i),
    endorsement: i === 0 ? null : sign(i - 1, endorsedText(auditKeyId(publicKey(i - 1)), publicKey(i))),
  }));
}

function recordsOf(keys: readonly AuditKey[], size: number): readonly AuditRecord[] {
  let prev = "";
  return Array.from({ length: keys.length * size }, (_, i) => {
    const key = Math.floor(i / size);
    const body = {
      n: i + 1,
      index: logIndex(i + 1),
      at: instant(i * 1000),
      user: "ada" as AuditRecord["user"],
      action: "node.drain",
      scope: "nodes" as const,
      detail: `fan ${i}`,
      prev,
    };
    prev = auditHash(body);
    return { ...body, hash: prev, key: auditKeyId(publicKey(key)), signature: sign(key, signedText(prev)) };
  });
}

const SIZE = 3;
const KEYS = keysOf(3, SIZE);
const RECORDS = recordsOf(KEYS, SIZE);

function problemIn(records: readonly AuditRecord[], keys: readonly AuditKey[] = KEYS): string | null {
  const chain = signedChain("", keys, check);
  for (const record of records) {
    const broken = chain.add(record);
    if (broken !== null) return broken.problem;
  }
  return null;
}

const position = fc.nat({ max: RECORDS.length - 1 });
const replaced = (at: number, change: (record: AuditRecord) => AuditRecord): readonly AuditRecord[] =>
  RECORDS.map((record, i) => (i === at ? change(record) : record));

describe("signed records", () => {
  it("of all keys are sound, and those at the end may wait for their signature", () => {
    expect(problemIn(RECORDS)).toBeNull();
    const chain = signedChain("", KEYS, check);
    const waiting = RECORDS.map(({ key, signature, ...rest }, i) => (i < 7 ? { ...rest, key, signature } : rest));
    for (const record of waiting as readonly AuditRecord[]) expect(chain.add(record)).toBeNull();
    expect(chain.unsigned()).toBe(2);
  });

  it("reveal a change of any character of any field", () => {
    const fields = Object.keys(RECORDS[0] as AuditRecord) as (keyof AuditRecord)[];
    fc.assert(
      fc.property(position, fc.constantFrom(...fields), fc.nat(), (at, field, where) => {
        const changed = replaced(
          at,
          (record) => ({ ...record, [field]: changedAt(record[field], where) }) as AuditRecord,
        );
        expect(problemIn(changed)).not.toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it("reveal a chain that was computed again behind a change", () => {
    fc.assert(
      fc.property(position, (at) => {
        let prev = RECORDS[at - 1]?.hash ?? "";
        const forged = RECORDS.map((record, i) => {
          if (i < at) return record;
          const { hash: _hash, key, signature, ...body } = { ...record, detail: `${record.detail}!`, prev };
          prev = auditHash(body);
          return { ...body, hash: prev, key, signature } as AuditRecord;
        });
        expect(problemIn(forged)).toBe(`record ${at + 1} was not signed with the key ${forged[at]?.key}`);
      }),
    );
  });

  it("reveal a record that is missing, moved or without its signature", () => {
    fc.assert(
      fc.property(fc.nat({ max: RECORDS.length - 2 }), (at) => {
        expect(problemIn(RECORDS.toSpliced(at, 1))).not.toBeNull();
        const [one, two] = [RECORDS[at] as AuditRecord, RECORDS[at + 1] as AuditRecord];
        expect(problemIn(RECORDS.toSpliced(at, 2, two, one))).not.toBeNull();
        const bare = replaced(at, ({ key: _key, signature: _signature, ...rest }) => rest);
        expect(problemIn(bare)).toBe(`record ${at + 1} is not signed`);
      }),
    );
  });

  it("reveal the signature of a key that signs other records, or that the cluster does not have", () => {
    const old = replaced(5, (record) => ({
      ...record,
      key: KEYS[0]?.id ?? "",
      signature: sign(0, signedText(record.hash)),
    }));
    expect(problemIn(old)).toBe(`record 6 is signed with the key ${KEYS[0]?.id}, which signs records 1 to 3`);
    expect(problemIn(RECORDS, KEYS.slice(1))).toContain("which is not a key of the cluster");
  });
});

describe("the keys of an audit log", () => {
  it("are sound, and those without an endorsement are named", () => {
    expect(verifyKeys(KEYS, check)).toEqual({ problem: null, unendorsed: [] });
    const restored = KEYS.map((key, i) => (i === 1 ? { ...key, endorsement: null } : key));
    expect(verifyKeys(restored, check)).toEqual({ problem: null, unendorsed: [KEYS[1]?.id] });
  });

  it.each<[string, number, Partial<AuditKey>, string]>([
    ["key", 1, { publicKey: publicKey(9) }, "was changed"],
    ["endorsement", 1, { endorsement: sign(9, "x") }, "was not endorsed by the key"],
    ["first record", 2, { first: 6 }, "does not follow the one before it"],
    ["last record", 1, { last: null }, "does not follow the one before it"],
  ])("reveal a changed %s", (_name, at, change, problem) => {
    const changed = KEYS.map((key, i) => (i === at ? { ...key, ...change } : key));
    expect(verifyKeys(changed, check).problem).toContain(problem);
  });
});

/** Another value of the same type. */
function changedAt(value: string | number | undefined, where: number): string | number {
  if (typeof value === "number") return value + 1 + (where % 7);
  const text = value ?? "";
  const at = where % (text.length + 1);
  return `${text.slice(0, at)}${text[at] === "0" ? "1" : "0"}${text.slice(at + 1)}`;
}
