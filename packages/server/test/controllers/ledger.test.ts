// When an upgraded cluster begins to charge attempts.

import { applyEntry, createState, duration, type Entry, instant, type State, term } from "@lattice/core";
import { expect, test } from "vitest";
import { decideLedger } from "../../src/controllers/ledger/decide.ts";
import { missing } from "../../src/leader/bootstrap.ts";

const SETTLE = duration(600_000);
const NEW = { id: "b", entryVersion: 2 };
const OLD = { id: "c", entryVersion: 1 };

const decide = (state: State, readers: readonly (typeof NEW)[], now: number, since: number | null = null) =>
  decideLedger(state, { now: instant(now), readers, since: since === null ? null : instant(since), settle: SETTLE });

test("it waits until every server has known the ledger for a while", () => {
  const state = createState();
  expect(decide(state, [NEW, OLD], 5_000_000)).toEqual({ since: null, command: null });
  expect(decide(state, [NEW], 1_000)).toEqual({ since: 1_000, command: null });
  expect(decide(state, [NEW], 600_999, 1_000)).toEqual({ since: 1_000, command: null });
  // One of the version before came back meanwhile.
  expect(decide(state, [NEW, OLD], 601_000, 1_000)).toEqual({ since: null, command: null });
  expect(decide(state, [NEW], 601_000, 1_000)).toEqual({ since: 1_000, command: { kind: "ledger.begin" } });
  expect(decide(state, [], 601_000, 1_000).command).toEqual({ kind: "ledger.begin" });
});

test("it begins once", () => {
  const state = createState();
  const commands = [{ kind: "ledger.begin" }] as const;
  const entry: Entry = { index: 1 as never, term: term(1), version: 2, at: instant(1), prevHash: "", commands };
  applyEntry(state, entry);
  expect(decide(state, [NEW], 9_000_000, 1)).toEqual({ since: null, command: null });
});

test("a new cluster begins with it, unless a server of the version before is there", () => {
  const state = createState();
  const options = {
    retention: state.retention,
    backfillDepth: 10,
    hooks: [],
    network: state.network,
    limits: state.limits,
    makesTokens: false,
  };
  const kinds = (readers: readonly (typeof NEW)[]) =>
    missing(state, { ...options, readers: () => readers }).map(({ kind }) => kind);
  expect(kinds([])).toContain("ledger.begin");
  expect(kinds([NEW])).toContain("ledger.begin");
  expect(kinds([NEW, OLD])).not.toContain("ledger.begin");
});

test("the key of jobs' tokens is made where the cluster signs them, once, and not while a server would not know it", () => {
  const state = createState();
  const options = {
    retention: state.retention,
    backfillDepth: 10,
    hooks: [],
    network: state.network,
    limits: state.limits,
    makesTokens: true,
  };
  const secrets = (readers: readonly (typeof NEW)[]) =>
    missing(state, { ...options, readers: () => readers }).filter(({ kind }) => kind === "secret.keep");
  expect(secrets([OLD])).toEqual([]);
  const [command] = secrets([NEW]);
  if (command === undefined) throw new Error("none");
  expect(secrets([NEW])[0]).not.toEqual(command);
  applyEntry(state, {
    index: 1 as never,
    term: term(1),
    version: 2,
    at: instant(1),
    prevHash: "",
    commands: [command],
  });
  expect(secrets([NEW])).toEqual([]);
});
