// The keys of the audit log in the state: the first one, rotation, the signatures that the leader adds, and what is
// refused. Signatures are text here: the core does not check them.

import {
  type AuditRecord,
  auditKeyId,
  beginRestore,
  type Command,
  MAX_AUDIT_KEYS,
  MAX_AUDIT_RECORDS,
  snapshotLines,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type Cluster, createCluster, drain, origin, register, sha256, undrain } from "../../support/cluster.ts";
import { expectRejected } from "../../support/content.ts";

const digits = (n: number): string => String(n).padStart(43, "0");
const publicKey = (n: number): string => `MCowBQYDK2VwAyEA${digits(n)}=`;
const keyId = (n: number): string => auditKeyId(publicKey(n));
const signature = (n: number): string => `${String(n).padStart(85, "A")}A==`;

const keep = (n: number): Command => ({ kind: "audit.keep_key", publicKey: publicKey(n) });
const rotate = (n: number, change: Partial<Extract<Command, { kind: "audit.rotate_key" }>> = {}): Command => ({
  kind: "audit.rotate_key",
  origin: origin(),
  previous: keyId(n - 1),
  publicKey: publicKey(n),
  endorsement: signature(n),
  ...change,
});
const sign = (
  first: number,
  count: number,
  key = 1,
  change: Partial<Extract<Command, { kind: "audit.sign" }>> = {},
): Command => ({
  kind: "audit.sign",
  key: keyId(key),
  first,
  signatures: Array.from({ length: count }, (_, i) => signature(first + i)),
  ...change,
});

/** Two records, then the first key with a third. */
function cluster(): Cluster {
  const c = createCluster(register("n1"), register("n2"));
  c.apply(drain("n1"), drain("n2"), keep(1));
  return c;
}

const newest = (c: Cluster): number => c.state.lastAudit()?.n ?? 0;
const ranges = (c: Cluster) => Array.from(c.state.auditKeys(), ({ id, first, last }) => [id, first, last]);
const unsigned = (c: Cluster): readonly number[] =>
  Array.from(c.state.audit()).flatMap(({ n, signature: of }) => (of === undefined ? [n] : []));

describe("the first audit key", () => {
  it("signs all records, also older ones, and has a record itself", () => {
    const c = cluster();
    expect(ranges(c)).toEqual([[keyId(1), 1, null]]);
    expect(c.state.lastAudit()).toMatchObject({ action: "audit.keep_key", user: "system", detail: `key ${keyId(1)}` });
    expect(unsigned(c)).toHaveLength(newest(c));
  });

  it("stays when another leader proposes one", () => {
    const c = cluster();
    expect(c.one(keep(2))).toMatchObject({ kind: "accepted", id: keyId(1), repeated: true });
    expect(ranges(c)).toHaveLength(1);
  });

  it("must be an Ed25519 key", () => {
    const c = createCluster();
    for (const bad of ["", "x", publicKey(1).slice(1), `${publicKey(1)}=`])
      expectRejected(c, { kind: "audit.keep_key", publicKey: bad }, "invalid_argument");
  });
});

describe("signatures", () => {
  it("are added in order, and stay with the record", () => {
    const c = cluster();
    const all = newest(c);
    c.apply(sign(1, all - 1));
    expect(unsigned(c)).toEqual([all]);
    c.apply(sign(all, 1));
    expect(unsigned(c)).toEqual([]);
    expect(c.state.signedAudit()).toBe(all);
    expect(c.state.lastAudit()).toMatchObject({ n: all, key: keyId(1), signature: signature(all) });
    c.apply(undrain("n1"));
    expect(unsigned(c)).toEqual([all + 1]);
  });

  it.each<[string, (c: Cluster) => Command, "illegal_transition" | "invalid_argument"]>([
    ["of a record twice", () => sign(1, 1), "illegal_transition"],
    ["behind a gap", () => sign(3, 1), "illegal_transition"],
    ["of records that do not exist", (c) => sign(2, newest(c)), "illegal_transition"],
    ["with another key", () => sign(2, 1, 7), "illegal_transition"],
    ["of nothing", () => sign(2, 0), "invalid_argument"],
    ["that are no signatures", () => sign(2, 1, 1, { signatures: ["signed"] }), "invalid_argument"],
    ["of too many records together", () => sign(2, 501), "invalid_argument"],
  ])("are refused: %s", (_name, command, code) => {
    const c = cluster();
    c.apply(sign(1, 1));
    expectRejected(c, command(c), code);
    expect(c.state.signedAudit()).toBe(1);
  });

  it("are known after a restart from a snapshot", () => {
    const c = cluster();
    c.apply(sign(1, 2));
    const restore = beginRestore(sha256);
    for (const line of snapshotLines(c.state, sha256)) restore.line(line);
    const restored = restore.finish();
    expect(restored.signedAudit()).toBe(2);
    expect([...restored.auditKeys()]).toEqual([...c.state.auditKeys()]);
    expect([...restored.audit()]).toEqual([...c.state.audit()]);
  });

  it("continue behind records that left the state without one", () => {
    const c = cluster();
    const one = c.state.lastAudit() as AuditRecord;
    // Not chained: only the order matters here.
    for (let n = one.n + 1; n <= MAX_AUDIT_RECORDS + 1; n += 1) c.state.putAudit({ ...one, n });
    c.apply(undrain("n1"));
    const [oldest] = c.state.audit();
    expect(c.state.signedAudit()).toBe((oldest?.n ?? 0) - 1);
    c.apply(sign(oldest?.n ?? 0, 1));
    expect(c.state.signedAudit()).toBe(oldest?.n);
  });
});

describe("rotation", () => {
  it("ends the old key with the last signed record, and keeps it", () => {
    const c = cluster();
    c.apply(sign(1, 2));
    c.apply(rotate(2));
    expect(ranges(c)).toEqual([
      [keyId(1), 1, 2],
      [keyId(2), 3, null],
    ]);
    expect(c.state.lastAudit()).toMatchObject({
      action: "audit.rotate_key",
      user: "ada",
      detail: `key ${keyId(2)} follows ${keyId(1)}`,
    });
    expectRejected(c, sign(3, 1, 1), "illegal_transition");
    c.apply(sign(3, newest(c) - 2, 2));
    expect(unsigned(c)).toEqual([]);
  });

  it("of a lost key names the loss", () => {
    const c = cluster();
    c.apply(rotate(2, { endorsement: null }));
    expect(c.state.lastAudit()?.detail).toContain("which is lost");
    expect(c.state.auditKey()).toMatchObject({ id: keyId(2), endorsement: null });
  });

  it("is refused with a key of the past, a wrong predecessor, or a bad endorsement", () => {
    const c = cluster();
    c.apply(rotate(2));
    expectRejected(c, rotate(3, { previous: keyId(1) }), "illegal_transition");
    expectRejected(c, rotate(2, { previous: keyId(2) }), "invalid_argument");
    expectRejected(c, rotate(3, { publicKey: publicKey(1) }), "invalid_argument");
    expectRejected(c, rotate(3, { endorsement: "signed" }), "invalid_argument");
    expect(ranges(c)).toHaveLength(2);
  });

  it("is refused before the first key, and beyond the limit of keys", () => {
    expectRejected(createCluster(), rotate(1), "illegal_transition");
    const c = cluster();
    for (let n = 2; n <= MAX_AUDIT_KEYS; n += 1) c.apply(rotate(n));
    expectRejected(c, rotate(MAX_AUDIT_KEYS + 1), "quota_exceeded");
  });
});
