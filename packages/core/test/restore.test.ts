// The restore of a backup into an empty cluster through the log: the whole backup or nothing, the same on every
// replica, and never over the content of a cluster.

import {
  type AuditRecord,
  applyEntry,
  auditHash,
  beginRestore,
  type Command,
  createState,
  RESTORED_ID_GAP,
  type State,
  snapshotLines,
  stateHash,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { brokenInvariants } from "./invariants/broken-invariants.ts";
import {
  cancel,
  createCluster,
  entryFor,
  id,
  origin,
  register,
  sha256,
  submit,
  tenant,
  vcluster,
} from "./support/cluster.ts";

/** Something of everything: nodes, a running allocation, pending ones, finished ones, an answered request. */
function busy(): State {
  const c = createCluster(register("n1"), register("n2"), submit({}, origin("r1")), submit(), submit());
  c.place(1, "n1");
  c.apply(cancel(2));
  return c.state;
}

const textOf = (state: State): string => [...snapshotLines(state, sha256)].map((line) => `${line}\n`).join("");

function pieces(text: string, length: number): string[] {
  const cut: string[] = [];
  for (let at = 0; at < text.length; at += length) cut.push(text.slice(at, at + length));
  return cut;
}

const begin = (restore = "b1"): Command => ({ kind: "cluster.restore_begin", origin: origin(), restore });
const piece = (n: number, text: string, restore = "b1"): Command => ({
  kind: "cluster.restore_text",
  restore,
  n,
  text,
});
const commit = (restore = "b1"): Command => ({ kind: "cluster.restore_commit", restore });

/** A new cluster, with what it makes for itself. */
function fresh() {
  const state = createState();
  const later = 10_000_000;
  const say = (...commands: Command[]) => {
    const applied = applyEntry(state, entryFor(state, later + state.index, commands));
    expect(brokenInvariants(state)).toEqual([]);
    return applied;
  };
  say(tenant("default"), vcluster("first"));
  return { state, say };
}

const stage = (text: string, length = 300): Command[] => pieces(text, length).map((part, n) => piece(n + 1, part));

describe("a restore through the log", () => {
  it("creates all records, in one step", () => {
    const old = busy();
    const { state, say } = fresh();
    say(begin(), ...stage(textOf(old)));
    expect(state.allocationCount).toBe(0);
    const { outcomes, events } = say(commit());
    expect(outcomes[0]).toMatchObject({ kind: "accepted", id: "b1" });
    expect(events.map(({ kind }) => kind)).toContain("cluster_restored");
    expect([...state.nodes()]).toEqual([...old.nodes()]);
    const unnumbered = (all: State) => [...all.allocations()].map((record) => ({ ...record, pendingSinceIndex: 0 }));
    expect(unnumbered(state)).toEqual(unnumbered(old));
    expect([...state.tenants()]).toEqual([...old.tenants()]);
    expect([...state.vclusters()]).toEqual([...old.vclusters()]);
    expect([...state.tables.requests.values()]).toEqual([...old.tables.requests.values()]);
    expect([...state.tables.ledger.values()]).toEqual([...old.tables.ledger.values()]);
    for (const record of state.allocations()) expect(record.pendingSinceIndex).toBeLessThanOrEqual(state.index);
  });

  it("skips all ids that the lost cluster may have assigned", () => {
    const old = busy();
    const { state, say } = fresh();
    say(begin(), ...stage(textOf(old)), commit());
    const next = old.counters.nextAllocation + RESTORED_ID_GAP;
    expect(say(submit()).outcomes[0]).toMatchObject({ kind: "accepted", id: String(next) });
    expect(state.allocation(id(next))).toBeDefined();
  });

  it("leaves the cluster unchanged when it stops halfway, and the next one starts from the beginning", () => {
    const { state, say } = fresh();
    const [first = "", ...rest] = pieces(textOf(busy()), 300);
    say(begin("lost"), piece(1, first, "lost"));
    say(begin(), piece(1, first));
    expect(say(piece(2, "x", "lost")).outcomes[0]).toMatchObject({ kind: "rejected" });
    expect(say(piece(1, first)).outcomes[0]).toMatchObject({ repeated: true });
    expect(say(piece(3, "x")).outcomes[0]).toMatchObject({ kind: "rejected" });
    say(...rest.map((text, n) => piece(n + 2, text)), commit());
    expect(state.nodeCount).toBe(2);
  });

  it("is part of hash and snapshot while it is in progress, and not before", () => {
    const { state, say } = fresh();
    const before = stateHash(state, sha256);
    const lines = [...snapshotLines(state, sha256)];
    expect(lines.some((line) => line.startsWith("staging"))).toBe(false);
    say(begin(), piece(1, "text"));
    expect(stateHash(state, sha256)).not.toBe(before);
    const reader = beginRestore(sha256);
    for (const line of snapshotLines(state, sha256)) reader.line(line);
    const again = reader.finish();
    expect(again.tables.staging.size).toBe(2);
    expect(stateHash(again, sha256)).toBe(stateHash(state, sha256));
  });

  it("gives the same state on every replica, whatever the pieces and the times of hashing", () => {
    const text = textOf(busy());
    fc.assert(
      fc.property(fc.integer({ min: 20, max: text.length + 10 }), fc.boolean(), (length, asked) => {
        const [a, b] = [fresh(), fresh()];
        const commands = [begin(), ...stage(text, length), commit()];
        a.say(...commands);
        b.say(...commands);
        if (asked) stateHash(b.state, sha256);
        a.say(submit());
        b.say(submit());
        expect(stateHash(a.state, sha256)).toBe(stateHash(b.state, sha256));
        expect(a.state.nodeCount).toBe(2);
      }),
      { numRuns: 25 },
    );
  });

  const own: readonly (readonly [string, Command])[] = [
    ["a submission", submit({ vcluster: "first" })],
    ["a node", register("n9")],
    ["a tenant", tenant("own")],
    ["another vCluster", vcluster("later")],
  ];
  it.each(own)("is refused when the cluster has %s of its own", (_what, command) => {
    const { state, say } = fresh();
    expect(say(command).outcomes[0]).toMatchObject({ kind: "accepted" });
    const { outcomes } = say(begin());
    expect(outcomes[0]).toMatchObject({ kind: "rejected", refusal: { code: "cluster_not_empty" } });
    expect(state.tables.staging.size).toBe(0);
  });

  it("is refused when another command came in between, and its pieces are removed", () => {
    const { state, say } = fresh();
    say(begin(), ...stage(textOf(busy())), register("n9"));
    expect(say(commit()).outcomes[0]).toMatchObject({ kind: "rejected", refusal: { code: "cluster_not_empty" } });
    expect([...state.nodes()].map((node) => node.id)).toEqual(["n9"]);
    expect(state.tables.staging.size).toBe(0);
  });

  it.each([
    ["cut short", (text: string) => text.slice(0, -40)],
    ["not a snapshot", () => "hello\n"],
    ["empty", () => ""],
    ["too new", (text: string) => text.replace(/"snapshot":\d+/, '"snapshot":99')],
    ["from the future", (text: string) => text.replace(/"at":\d+/, '"at":99999999999999')],
  ])("is refused when the text is %s, and nothing changes", (_what, change) => {
    const { state, say } = fresh();
    say(begin(), ...stage(change(textOf(busy()))));
    expect(say(commit()).outcomes[0]).toMatchObject({ kind: "rejected", refusal: { code: "invalid_argument" } });
    expect(state.nodeCount).toBe(0);
    expect([...state.vclusters()].map((one) => one.id)).toEqual(["first"]);
    expect(say(submit({ vcluster: "first" })).outcomes[0]).toMatchObject({ kind: "accepted", id: "1" });
  });

  it("hands finished records to the history of every server, including the last one", () => {
    const old = busy();
    const ended = [...old.allocations()].find((record) => record.phase.kind === "cancelled");
    if (ended === undefined) throw new Error("nothing has ended");
    const archived = { ...ended, id: id(900) };
    const { state, say } = fresh();
    const history = (last: boolean): Command => ({
      kind: "cluster.restore_history",
      restore: "b1",
      records: [archived, ended],
      last,
    });
    expect(say(history(false)).outcomes[0]).toMatchObject({ kind: "rejected" });
    say(begin(), ...stage(textOf(old)), commit());
    // Records still in the live state are archived when they expire.
    expect(say(history(false)).effects).toEqual([{ kind: "archive", record: archived }]);
    expect(say(begin()).outcomes[0]).toMatchObject({ kind: "accepted", repeated: true });
    expect(say(begin("other")).outcomes[0]).toMatchObject({ refusal: { code: "cluster_not_empty" } });
    say(history(true));
    expect(state.tables.staging.size).toBe(0);
    expect(say(begin()).outcomes[0]).toMatchObject({ refusal: { code: "cluster_not_empty" } });
    expect(say(history(true)).outcomes[0]).toMatchObject({ kind: "rejected" });
  });

  it("hands the archive of the audit log to every server, with its own hashes and only below the state's records", () => {
    const old = busy();
    const lines = chain(9);
    old.dropAudit();
    for (const line of lines.slice(6)) old.putAudit(line);
    const { state, say } = fresh();
    const audit = (records: readonly AuditRecord[], restore = "b1"): Command => ({
      kind: "cluster.restore_audit",
      restore,
      floor: 3,
      records,
    });
    const archived = lines.slice(2, 6);
    expect(say(audit(archived)).outcomes[0]).toMatchObject({ kind: "rejected" });
    say(begin(), ...stage(textOf(old)), commit());
    expect(say(audit(archived)).effects).toEqual([{ kind: "restore_audit", floor: 3, records: archived }]);
    // The first line says where in the log this is, the last sums up all of them.
    const records = () => textOf(state).trim().split("\n").slice(1, -1);
    const before = records();
    for (const odd of [lines.slice(1, 3), lines.slice(5, 7), [{ ...lines[3], user: "eve" } as AuditRecord]]) {
      const { outcomes, effects } = say(audit(odd));
      expect([outcomes[0]?.kind, effects]).toEqual(["rejected", []]);
    }
    expect(say(audit(archived, "other")).outcomes[0]).toMatchObject({ kind: "rejected" });
    expect(before.length).toBeGreaterThan(10);
    expect(records()).toEqual(before);
  });
});

function chain(length: number): AuditRecord[] {
  let prev = "";
  return Array.from({ length }, (_, i) => {
    const body = { n: i + 1, index: 1, at: 1, user: "ada", action: "grant.add", scope: "access", detail: "", prev };
    const record = { ...body, hash: auditHash(body as never) } as unknown as AuditRecord;
    prev = record.hash;
    return record;
  });
}
