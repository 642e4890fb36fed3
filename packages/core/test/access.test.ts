// Roles kept in the state, and the audit log: chained, ordered, kept through snapshots, and tamper-evident.

import { createHash } from "node:crypto";
import {
  type AuditRecord,
  beginRestore,
  brokenChain,
  type Command,
  duration,
  MAX_AUDIT_RECORDS,
  MAX_EARLIER_SECRETS,
  type State,
  snapshotLines,
  stateHash,
  type UserName,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../src/base/sha256.ts";
import {
  cancel,
  createCluster,
  disable,
  drain,
  grant,
  origin,
  sha256 as platform,
  register,
  submit,
  tenant,
  verdict,
} from "./support/cluster.ts";

const clusterWith = (...more: Command[]) => createCluster(tenant("physics"), ...more);
const user = (name: string) => name as UserName;

describe("secrets of the cluster", () => {
  const keep = (value: string, name = "jobs"): Command => ({ kind: "secret.keep", name: name as "jobs", value });
  const one = "a".repeat(43);

  it("keep the first value that a server proposes, also through snapshots", () => {
    const c = clusterWith();
    expect(c.state.secret("jobs")).toBeNull();
    const before = stateHash(c.state, platform);
    for (const bad of [keep(""), keep("a".repeat(42)), keep("a".repeat(257)), keep("/".repeat(43)), keep(one, "other")])
      expect(verdict(c.one(bad))).toBe("invalid_argument");
    expect(c.state.secret("jobs")).toBeNull();
    expect(verdict(c.one(keep(one)))).toBe("accepted");
    expect(c.one(keep("b".repeat(43)))).toMatchObject({ repeated: true });
    expect(c.state.secret("jobs")).toBe(one);
    expect(stateHash(c.state, platform)).not.toBe(before);
    const restore = beginRestore(platform);
    for (const line of snapshotLines(c.state, platform)) restore.line(line);
    expect(restore.finish().secret("jobs")).toBe(one);
  });

  const rotate = (letter: string, keepMs: number): Command => ({
    kind: "secret.rotate",
    origin: origin(),
    name: "jobs",
    value: letter.repeat(43),
    keep: duration(keepMs),
  });
  const earlier = (state: State) => state.earlierSecrets("jobs").map(({ value }) => value[0]);

  it("are rotated: an earlier secret counts until its time, and snapshots hold them all", () => {
    const c = clusterWith();
    expect(verdict(c.one(rotate("b", 1_000)))).toBe("illegal_transition");
    c.one(keep(one));
    for (const bad of [rotate("/", 1_000), rotate("a", 1_000), rotate("b", -1)])
      expect(verdict(c.one(bad))).toBe("invalid_argument");
    expect([c.state.secret("jobs"), earlier(c.state)]).toEqual([one, []]);
    expect(verdict(c.one(rotate("b", 3_600_000)))).toBe("accepted");
    expect(verdict(c.one(rotate("c", 3_600_000)))).toBe("accepted");
    expect([c.state.secret("jobs")?.[0], earlier(c.state)]).toEqual(["c", ["b", "a"]]);
    expect(c.state.earlierSecrets("jobs")[0]?.until).toBe(c.state.at + 3_600_000);
    expect(verdict(c.one(rotate("a", 1_000))), "one that still counts").toBe("invalid_argument");
    const restore = beginRestore(platform);
    for (const line of snapshotLines(c.state, platform)) restore.line(line);
    const restored = restore.finish();
    expect([earlier(restored), stateHash(restored, platform)]).toEqual([["b", "a"], stateHash(c.state, platform)]);
    expect(verdict(c.one(rotate("d", 0)))).toBe("accepted");
    expect([c.state.secret("jobs")?.[0], earlier(c.state)]).toEqual(["d", []]);
  });

  it("have at most eight earlier values, and the audit log names the user and never the key", () => {
    const c = clusterWith(keep(one));
    for (const letter of "bcdefghi") expect(verdict(c.one(rotate(letter, 3_600_000)))).toBe("accepted");
    expect(verdict(c.one(rotate("j", 3_600_000)))).toBe("quota_exceeded");
    const records = [...c.state.audit()].filter(({ action }) => action === "secret.rotate");
    expect(records).toHaveLength(MAX_EARLIER_SECRETS);
    expect(JSON.stringify(records)).not.toMatch(/(\w)\1{42}/);
  });

  it("appear in no event and in no audit record", () => {
    const c = clusterWith();
    const applied = c.apply(keep(one));
    expect(JSON.stringify([applied.events, [...c.state.audit()]])).not.toContain(one);
  });
});

describe("grants", () => {
  it("are added once, found by user, and removed", () => {
    const c = clusterWith();
    expect(verdict(c.one(grant("grant.add", "physics", "bob")))).toBe("accepted");
    expect(c.one(grant("grant.add", "physics", "bob"))).toMatchObject({ repeated: true });
    expect(verdict(c.one(grant("grant.add", "physics", "bob", "claiming_user")))).toBe("accepted");
    expect(c.state.grantsOf(user("bob")).map(({ role, by }) => [role, by])).toEqual([
      ["tenant_admin", "ada"],
      ["claiming_user", "ada"],
    ]);
    expect(verdict(c.one(grant("grant.remove", "physics", "bob")))).toBe("accepted");
    expect(c.state.grantsOf(user("bob"))).toHaveLength(1);
    expect(verdict(c.one(grant("grant.remove", "physics", "bob")))).toBe("unknown_grant");
  });

  it("for an invalid user, an unknown tenant or an unknown role are refused", () => {
    const c = clusterWith();
    expect(verdict(c.one(grant("grant.add", "nowhere", "bob")))).toBe("unknown_tenant");
    expect(verdict(c.one(grant("grant.add", "physics", "two words")))).toBe("invalid_argument");
    expect(verdict(c.one(grant("grant.add", "physics", "bob", "king")))).toBe("invalid_argument");
    expect([...c.state.grants()]).toEqual([]);
  });
});

describe("the audit log", () => {
  it("names administrative actions with their user, and leaves out users' own work", () => {
    const c = clusterWith(register("n1"));
    c.apply(grant("grant.add", "physics", "bob"), drain("n1"), disable("n1"), submit(), cancel(1), cancel(1));
    const others: Command = { ...(submit() as Extract<Command, { kind: "allocation.submit" }>) };
    c.apply({ ...others, origin: { ...others.origin, user: user("bob") } });
    c.apply(cancel(2));
    c.apply(grant("grant.add", "physics", "bob"), grant("grant.remove", "physics", "eve"));
    expect([...c.state.audit()].map(({ n, action, user: who }) => `${n} ${who} ${action}`)).toEqual([
      "1 ada vcluster.create",
      "2 ada tenant.create",
      "3 ada grant.add",
      "4 ada node.drain",
      "5 ada node.disable",
      "6 ada allocation.cancel",
    ]);
    expect(brokenChain(c.state.audit(), "")).toBeNull();
  });

  it("reveals changed, missing and exchanged records", () => {
    const c = clusterWith(register("n1"));
    c.apply(grant("grant.add", "physics", "bob"), drain("n1"), disable("n1"));
    const lines = [...c.state.audit()];
    const at = (n: number) => lines[n] as AuditRecord;
    expect(brokenChain(lines, "")).toBeNull();
    expect(brokenChain(lines.slice(1), null)).toBeNull();
    expect(brokenChain(lines.slice(1), "")?.problem).toMatch(/does not follow/);
    const changed = lines.map((line) => (line.action === "grant.add" ? { ...line, user: user("eve") } : line));
    expect(brokenChain(changed, "")?.problem).toMatch(/was changed/);
    expect(brokenChain(lines.toSpliced(1, 1), "")?.problem).toMatch(/missing or out of order/);
    expect(brokenChain([at(1), at(0), ...lines.slice(2)], null)?.problem).toMatch(/missing or out of order/);
  });

  it("is kept by snapshots, with its grants, and continues after", () => {
    const c = clusterWith(register("n1"));
    c.apply(grant("grant.add", "physics", "bob"), drain("n1"));
    const reader = beginRestore(platform);
    for (const line of snapshotLines(c.state, platform)) reader.line(line);
    const restored = reader.finish();
    expect(stateHash(restored, platform)).toBe(stateHash(c.state, platform));
    expect(restored.lastAudit()).toEqual(c.state.lastAudit());
    expect(restored.grantsOf(user("bob"))).toHaveLength(1);
  });

  it("hands its oldest records to the archive, in order", () => {
    const c = clusterWith();
    const one = c.state.lastAudit() as AuditRecord;
    for (let n = one.n + 1; n <= MAX_AUDIT_RECORDS; n += 1) c.state.tables.audit.set(String(n), { ...one, n });
    c.state.putAudit({ ...one, n: MAX_AUDIT_RECORDS });
    // These records are not chained; the test checks only the order of eviction.
    const { effects } = c.apply(grant("grant.add", "physics", "bob"));
    expect(effects).toMatchObject([{ kind: "archive_audit", record: { n: 1 } }]);
    expect(c.state.lastAudit()?.n).toBe(MAX_AUDIT_RECORDS + 1);
    expect(c.state.tables.audit.size).toBe(MAX_AUDIT_RECORDS);
  });
});

it("the hash is the standard SHA-256", () => {
  const theirs = (text: string) => createHash("sha256").update(text).digest("hex");
  for (const text of ["", "abc", "x".repeat(55), "x".repeat(56), "x".repeat(64), "größe 🦔", "\ud800"])
    expect(sha256(text)).toBe(theirs(text));
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => sha256(text) === theirs(text)));
});
