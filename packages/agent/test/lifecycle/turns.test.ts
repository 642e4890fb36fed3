// Attempts that may share a node: a table, and properties over random histories of several attempts
// that go through the same state machine as on a real node.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AttemptEvent,
  type AttemptState,
  isExclusive,
  isLive,
  type LiveAttempt,
  type ReceivedOrder,
} from "../../src/lifecycle/attempt.ts";
import { step } from "../../src/lifecycle/step.ts";
import { mustWait, nextTurns } from "../../src/lifecycle/turns.ts";

const limits = { walltimeMs: null, graceMs: 5_000 };
const received = (exclusive: boolean): ReceivedOrder => ({
  order: create(pb.RunOrderSchema, exclusive ? {} : { limits: {} }),
  arrivedAtMs: 0,
});
const waits = (exclusive: boolean): LiveAttempt => ({ kind: "waiting", exclusive, received: received(exclusive) });
const runs = (exclusive: boolean): LiveAttempt => ({ kind: "running", exclusive, limits, startedAtMs: 1 });
const alone = true;
const shared = false;

describe("turns of attempts", () => {
  test.each<[string, LiveAttempt[], string[]]>([
    ["no attempt waits", [runs(alone)], []],
    ["a free node goes to the first", [waits(alone), waits(alone)], ["0"]],
    ["not while anything is there", [runs(alone), waits(alone)], []],
    ["not while anything shared is there", [runs(shared), waits(alone)], []],
    ["arrived later but started: it occupies the node", [waits(alone), runs(alone)], []],
    ["shared ones go together", [runs(shared), waits(shared), waits(shared)], ["1", "2"]],
    ["but not beside an exclusive one", [runs(alone), waits(shared)], []],
    ["and none overtakes", [runs(shared), waits(alone), waits(shared)], []],
    ["up to the first that must be alone", [waits(shared), waits(shared), waits(alone)], ["0", "1"]],
  ])("%s", (_name, attempts, turns) => {
    expect(nextTurns(new Map(attempts.map((attempt, n) => [String(n), attempt])))).toEqual(turns);
  });

  test.each<[string, LiveAttempt[], boolean, boolean]>([
    ["nothing there", [], alone, false],
    ["one there", [runs(shared)], alone, true],
    ["an exclusive one there", [runs(alone)], shared, true],
    ["only shared ones there", [runs(shared)], shared, false],
    ["another waits already", [waits(shared)], shared, true],
  ])("a new order: %s", (_name, attempts, exclusive, wait) => {
    expect(mustWait(new Map(attempts.map((attempt, n) => [String(n), attempt])), exclusive)).toBe(wait);
  });
});

interface Move {
  readonly key: string;
  readonly event: AttemptEvent["kind"];
}

const KEYS = ["1.1", "1.2", "2.1", "3.1"];
const moves = fc.array(
  fc.record<Move>({
    key: fc.constantFrom(...KEYS),
    event: fc.constantFrom("run", "stop", "forget", "started", "exited", "cleared", "acknowledged"),
  }),
  { maxLength: 60 },
);

function play(history: readonly Move[], exclusive: (key: string) => boolean) {
  const attempts = new Map<string, AttemptState>();
  const live = new Map<string, LiveAttempt>();
  const arrived: string[] = [];
  const started: string[] = [];

  function on(key: string, event: AttemptEvent): void {
    const before = attempts.get(key) ?? null;
    const { attempt, effects } = step(before, event, 1_000);
    if (attempt !== null) attempts.set(key, attempt);
    if (attempt !== null && isLive(attempt)) live.set(key, attempt);
    else live.delete(key);
    if (event.kind === "run" && before === null) arrived.push(key);
    if (effects.some((effect) => effect.kind === "start")) started.push(key);
    for (const next of nextTurns(live)) on(next, { kind: "turn" });
    const here = [...live].filter(([, one]) => one.kind !== "waiting");
    if (here.some(([one]) => exclusive(one))) expect(here).toHaveLength(1);
  }

  for (const { key, event } of history) on(key, eventOf(event, received(exclusive(key)), live));
  return { arrived, started, live, on };
}

function eventOf(kind: AttemptEvent["kind"], of: ReceivedOrder, live: ReadonlyMap<string, LiveAttempt>): AttemptEvent {
  if (kind === "run") return { kind, received: of, wait: mustWait(live, isExclusive(of.order)) };
  if (kind === "stop") return { kind, graceMs: null, reason: "" };
  if (kind === "exited") return { kind, exit: { kind: "code", code: 0, recorded: true }, atMs: 1 };
  return kind === "started" ? { kind, atMs: 1 } : ({ kind } as AttemptEvent);
}

describe("any sequence of events", () => {
  test.each([
    ["all exclusive", () => true],
    ["some shared", (key: string) => key === "1.1" || key === "3.1"],
  ])("%s: an exclusive attempt is alone, and they begin as they arrived", (_name, exclusive) => {
    fc.assert(
      fc.property(moves, (history) => {
        const { arrived, started } = play(history, exclusive);
        expect(started).toEqual(arrived.filter((key) => started.includes(key)));
      }),
      { numRuns: 3_000 },
    );
  });

  test("every waiting attempt starts when the attempts on the node end", () => {
    fc.assert(
      fc.property(moves, (history) => {
        const { live, on } = play(history, (key) => key !== "2.1");
        for (let round = 0; round < KEYS.length; round++) {
          for (const [key, attempt] of [...live]) {
            if (attempt.kind === "waiting") continue;
            on(key, { kind: "exited", exit: { kind: "unseen", message: "" }, atMs: 2 });
            on(key, { kind: "cleared" });
          }
        }
        expect([...live.keys()]).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
