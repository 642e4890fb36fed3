// The events of one allocation: in order, with increasing cursors, and complete across requeues.

import { type Allocation, attempt, instant, type LogIndex, type NodeId, type UserName } from "@lattice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { droppedCount, eventsOf, hasMissed, isAfter, parseEventCursor } from "../../../src/state/events/events-of.ts";

const nodes = ["n1" as NodeId];
const base = {
  id: "7",
  user: "ada" as UserName,
  spec: { vcluster: "batch" },
  submittedAt: instant(10),
  requeues: 1,
  pendingSinceIndex: 1 as LogIndex,
  scores: { total: 700 },
  backfilled: false,
};

const past = (n: number, placedAt: number) => ({
  attempt: attempt(n),
  nodeCount: 1,
  nodes,
  placedAt: instant(placedAt),
  startedAt: instant(placedAt + 1),
  endedAt: instant(placedAt + 2),
  to: "pending" as const,
  cause: "node_failure",
  scoreMilli: 500,
  backfilled: false,
  failure: { reason: "lost" as const, exitCode: null, message: "the process was gone" },
  entries: { placed: placedAt * 10, started: placedAt * 10 + 1, ended: placedAt * 10 + 2 } as never,
});

const record = (more: object): Allocation => ({ ...base, attempt: attempt(2), ...more }) as unknown as Allocation;

test("the events have every attempt, failure, note and the end", () => {
  const events = eventsOf(
    record({
      phase: {
        kind: "failed",
        reason: "exit_code",
        nodes,
        placedAt: instant(30),
        startedAt: instant(31),
        endedAt: instant(40),
        exitCode: 3,
        message: "exit code 3",
      },
      past: {
        attempts: [past(1, 20)],
        refusals: [{ at: instant(15), index: 150, basis: 1, code: "node_unavailable", detail: "held" }],
        notes: [
          { at: instant(40), index: 400, type: "scaling", kind: "scaled_up", attempt: attempt(2), text: "Grew." },
        ],
      },
      entries: { placed: 300, started: 301, ended: 400 },
    }),
  );
  expect(events.map(({ at, type, kind }) => `${at} ${type} ${kind}`)).toEqual([
    "10 state submitted",
    "15 decision placement_refused",
    "20 decision placed",
    "21 state started",
    "22 failure attempt_failed",
    "22 state requeued",
    "30 decision placed",
    "31 state started",
    "40 scaling scaled_up",
    "40 failure failed",
  ]);
  expect(events.at(-1)).toMatchObject({ reason: "exit_code", exitCode: 3, cursor: "400:1" });
});

test("the placement of a service has its original nodes after scaling", () => {
  const note = (index: number, kind: string, node: string, n: number) => ({
    ...{
      at: instant(Math.floor(index / 10) + 2),
      index,
      type: "scaling",
      kind,
      attempt: attempt(n),
      text: ".",
      nodes: [node],
    },
  });
  const events = eventsOf(
    record({
      attempt: attempt(4),
      phase: { kind: "running", nodes: ["n3"], placedAt: instant(30), startedAt: instant(31), progress: [] },
      past: {
        attempts: [{ ...past(2, 20), nodes: ["n1", "n2"], nodeCount: 2 }],
        refusals: [],
        notes: [note(202, "scaled_up", "n2", 2), note(320, "scaled_up", "n3", 4), note(330, "scaled_down", "n1", 4)],
      },
      entries: { placed: 300, started: 301 },
    }),
  );
  const told = (kind: string) => events.filter((event) => event.kind === kind);
  expect(told("placed").map(({ attempt: n, nodes: on, text }) => [n, on, text.slice(0, 16)])).toEqual([
    [1, ["n1"], "Placed on 1 node"],
    [3, ["n1"], "Placed on 1 node"],
  ]);
  expect(told("started").map(({ attempt: n, nodes: on }) => [n, on])).toEqual([
    [1, ["n1"]],
    [3, ["n1"]],
  ]);
  expect(told("requeued")).toMatchObject([{ attempt: 2, nodes: ["n1", "n2"] }]);
});

test("cursors increase for any order of times", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 12 }), (steps) => {
      let index = 10;
      const notes = steps.map((step) => {
        index += step;
        // Several entries at one instant.
        const at = instant(10 + Math.floor(index / 4));
        return { at, index, type: "state", kind: "updated", attempt: attempt(1), text: "." };
      });
      const events = eventsOf(record({ phase: { kind: "pending" }, past: { attempts: [], refusals: [], notes } }));
      expect(events).toHaveLength(notes.length + 1);
      events.slice(1).forEach((event, i) => {
        expect(isAfter(event, parseEventCursor(events[i]?.cursor ?? "") ?? { index: -1, n: 0 })).toBe(true);
      });
    }),
  );
});

test("the cursor of an event never changes, also within one millisecond", () => {
  const at = instant(20);
  const placed = { kind: "staging", nodes, placedAt: at, progress: [] };
  const early = eventsOf(record({ phase: placed, entries: { placed: 7 } }));
  // The refusal before and the failure after have the same millisecond.
  const later = eventsOf(
    record({
      phase: { kind: "pending" },
      past: {
        attempts: [{ ...past(1, 20), startedAt: null, endedAt: at, entries: { placed: 7, ended: 8 } }],
        refusals: [{ at, index: 6, basis: 1, code: "node_unavailable", detail: "held" }],
        notes: [{ at, index: 8, type: "decision", kind: "held", attempt: attempt(1), text: "Held." }],
      },
    }),
  );
  expect(early.map(({ kind, cursor }) => `${cursor} ${kind}`)).toEqual(["0:0 submitted", "7:0 placed"]);
  expect(later.map(({ kind, cursor }) => `${cursor} ${kind}`)).toEqual([
    "0:0 submitted",
    "6:0 placement_refused",
    "7:0 placed",
    "8:0 attempt_failed",
    "8:1 requeued",
    "8:2 held",
  ]);
});

test("a reader that missed dropped events is notified, and dropped events are counted", () => {
  const cut = { past: { attempts: [], refusals: [], cut: { count: 3, through: 9 as LogIndex } } };
  expect(hasMissed(cut, { index: 8, n: 4 })).toBe(true);
  expect(hasMissed(cut, { index: 10, n: 0 })).toBe(false);
  expect(droppedCount(cut)).toBe(3);
  expect(droppedCount({})).toBe(0);
});

test("only victims of a preemption are shown as preempted", () => {
  const suspended = (cause: string) =>
    eventsOf(
      record({
        phase: { kind: "suspended" },
        past: { attempts: [{ ...past(1, 20), to: "suspended", cause }], refusals: [] },
      }),
    )
      .filter(({ kind }) => kind === "suspended")
      .map(({ type }) => type);
  expect(suspended("preempted")).toEqual(["preemption"]);
  expect(suspended("walltime")).toEqual(["state"]);
});
