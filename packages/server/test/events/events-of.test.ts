// The stream of one allocation: in order, with cursors that only grow, and complete through requeues.

import { type Allocation, attempt, instant, type LogIndex, type NodeId, type UserName } from "@lattice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventsOf, isAfter, parseEventCursor } from "../../src/events/events-of.ts";

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
});

const record = (more: object): Allocation => ({ ...base, attempt: attempt(2), ...more }) as unknown as Allocation;

test("every attempt, what failed, what was noted, and the end", () => {
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
        refusals: [{ at: instant(15), basis: 1, code: "node_unavailable", detail: "held" }],
        notes: [{ at: instant(40), type: "scaling", kind: "scaled_up", attempt: attempt(2), text: "Grew." }],
      },
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
  expect(events.at(-1)).toMatchObject({ reason: "exit_code", exitCode: 3, cursor: "40:1" });
});

test("cursors grow, whatever happened when", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 12 }), (steps) => {
      let at = 10;
      const notes = steps.map((step) => {
        at += step;
        return { at: instant(at), type: "state", kind: "updated", attempt: attempt(1), text: "." };
      });
      const events = eventsOf(record({ phase: { kind: "pending" }, past: { attempts: [], refusals: [], notes } }));
      expect(events).toHaveLength(notes.length + 1);
      events.slice(1).forEach((event, i) => {
        expect(isAfter(event, parseEventCursor(events[i]?.cursor ?? "") ?? { at: -1, n: 0 })).toBe(true);
      });
    }),
  );
});
