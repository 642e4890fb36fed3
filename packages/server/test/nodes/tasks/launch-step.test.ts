// The state machine of a launch: transcripts of events and their effects, and properties over random histories.

import { create } from "@bufbuild/protobuf";
import type { NodeId } from "@lattice/core";
import { pb } from "@lattice/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  acceptsInput,
  FOUND_WITHIN,
  type LaunchEffect,
  type LaunchState,
  type LaunchStepEvent,
  newLaunch,
  RETURN_WITHIN,
} from "../../../src/nodes/tasks/launch-state.ts";
import { step } from "../../../src/nodes/tasks/launch-step.ts";

const shares = [
  { node: "n0" as NodeId, firstRank: 0, tasks: 1 },
  { node: "n1" as NodeId, firstRank: 1, tasks: 1 },
];
const started = newLaunch({ shares, resumable: false, adopted: false });
const resumable = newLaunch({ shares, resumable: true, adopted: false });
const adopted = newLaunch({ shares, resumable: true, adopted: true });

const say = (place: number, number: number, report: pb.TasksReport["report"]): LaunchStepEvent => ({
  kind: "reported",
  place,
  report: create(pb.TasksReportSchema, { number, report }),
});
const attached = (place: number, repeats = true): LaunchStepEvent => ({ kind: "attached", place, repeats });
const output = (place: number, number: number, bytes = 1): LaunchStepEvent =>
  say(place, number, { case: "output", value: create(pb.TaskOutputSchema, { data: new Uint8Array(bytes) }) });
const taskEnd = (place: number, number: number, exitCode = 0): LaunchStepEvent =>
  say(place, number, {
    case: "taskEnd",
    value: create(pb.TaskEndSchema, { rank: place, node: `n${place}`, exitCode }),
  });
const done = (place: number, number: number): LaunchStepEvent =>
  say(place, number, { case: "done", value: create(pb.TasksDoneSchema) });
const fence = (place: number, report: number, number: number): LaunchStepEvent =>
  say(place, report, {
    case: "fence",
    value: create(pb.TasksFenceSchema, { number, entries: [{ key: `k${place}`, value: "v" }] }),
  });
const names = (place: number, number: number, act: pb.NameAct): LaunchStepEvent =>
  say(place, number, { case: "names", value: create(pb.TasksNamesSchema, { id: number, act }) });
const read = (...from: number[]): LaunchStepEvent => ({ kind: "read", from });

/** One line per effect. */
function textOf(effect: LaunchEffect): string {
  switch (effect.kind) {
    case "send":
      return `n${effect.place} <- ${effect.order.case}${detailOf(effect.order)}`;
    case "queue": {
      const { event, place, number } = effect.event;
      return `caller <- ${event.case ?? "nothing"}${event.case === "end" ? ` ${event.value.exitCode}` : ` ${place}.${number}`}`;
    }
    case "start_timer":
      return `timer ${nameOf(effect)} ${effect.after / 1000} s`;
    case "stop_timer":
      return `stop ${nameOf(effect)}`;
    case "end_stream":
    case "drop_stream":
    case "ask_names":
      return `${effect.kind} ${effect.place}`;
    case "settle":
      return `settle ${effect.failure?.reason ?? "completed"}`;
    default:
      return effect.kind;
  }
}

const nameOf = ({ timer }: Extract<LaunchEffect, { kind: "start_timer" | "stop_timer" }>): string =>
  timer.name === "member" ? `member ${timer.place}` : timer.name;

function detailOf(order: pb.TasksOrder["order"]): string {
  if (order.case === "taken" || order.case === "fenceDone") return ` ${order.value.number}`;
  return order.case === "kill" ? ` ${order.value.exitCode} ${order.value.reason}` : "";
}

/** Plays events and returns the effects of the last one as text. */
function after(state: LaunchState, ...events: readonly LaunchStepEvent[]): readonly string[] {
  let current = state;
  let effects: readonly LaunchEffect[] = [];
  for (const event of events) [current, effects] = step(current, event);
  return effects.map(textOf);
}

const played = (state: LaunchState, ...events: readonly LaunchStepEvent[]): LaunchState =>
  events.reduce((current, event) => step(current, event)[0], state);

const both = [attached(0), attached(1)];

describe("nodes", () => {
  test("every node has a timer from the start; an adopted launch waits for its caller too", () => {
    expect(after(started, { kind: "opened" })).toEqual(["timer member 0 20 s", "timer member 1 20 s"]);
    expect(after(adopted, { kind: "opened" })).toEqual([
      "timer member 0 60 s",
      "timer member 1 60 s",
      "timer caller 60 s",
    ]);
  });

  test("a node that detaches has twenty seconds to come back", () => {
    expect(after(started, ...both, { kind: "detached", place: 1 })).toEqual(["timer member 1 20 s"]);
    expect(after(started, ...both, done(1, 1), { kind: "detached", place: 1 })).toEqual([]);
  });

  test("a node that does not come back fails the launch and kills the others", () => {
    const lost: LaunchStepEvent = { kind: "timer", timer: { name: "member", place: 1, within: RETURN_WITHIN } };
    expect(after(started, attached(0), lost)).toEqual([
      "n0 <- kill 1 node n1 did not answer within 20 s",
      "timer end 15 s",
    ]);
    expect(after(started, attached(0), lost, taskEnd(0, 1, 143), done(0, 2)).at(-1)).toBe(
      "settle node n1 did not answer within 20 s",
    );
  });

  test("a node that cannot start the tasks fails the launch", () => {
    const hello = say(0, 0, { case: "hello", value: create(pb.TasksHelloSchema, { error: "no such image" }) });
    expect(after(started, ...both, hello)).toEqual([
      "n1 <- kill 1 n0: no such image".replace("n0:", "node n0:"),
      "timer end 15 s",
    ]);
  });

  test("a node that attaches again receives the last exchange, its answers, the confirmed position and the kill", () => {
    const before = [...both, fence(0, 1, 1), fence(1, 1, 1), output(0, 2), { kind: "detached", place: 0 } as const];
    const named: LaunchStepEvent = { kind: "named", place: 0, id: 1, answer: { problem: "", found: [] } };
    const failed: LaunchStepEvent = { kind: "fail", failure: { exitCode: 9, reason: "why" } };
    expect(after(resumable, ...before, { kind: "acknowledged", positions: [2] }, named, failed, attached(0))).toEqual([
      "stop member 0",
      "n0 <- fenceDone 1",
      "n0 <- named",
      "n0 <- taken 2",
      "n0 <- kill 9 why",
    ]);
  });
});

describe("reports", () => {
  test("output and ends are queued for the caller once, in the order of their numbers", () => {
    expect(after(started, ...both, output(0, 1))).toEqual(["caller <- output 0.1"]);
    expect(after(started, ...both, output(0, 1), output(0, 1))).toEqual([]);
    expect(after(started, ...both, output(0, 2))).toEqual([]);
    expect(after(started, attached(0, false), output(0, 2))).toEqual(["caller <- output 0.2"]);
  });

  test("consumed reports are confirmed in batches, by number and by size", () => {
    const consumed = (number: number, bytes: number): LaunchStepEvent => ({
      kind: "consumed",
      event: {
        event: { case: "output", value: create(pb.TaskOutputSchema, { data: new Uint8Array(bytes) }) },
        place: 0,
        number,
      },
    });
    expect(after(started, ...both, consumed(31, 1))).toEqual([]);
    expect(after(started, ...both, consumed(32, 1))).toEqual(["n0 <- taken 32"]);
    expect(after(started, ...both, consumed(1, 64 * 1024))).toEqual(["n0 <- taken 1"]);
    expect(after(resumable, ...both, consumed(32, 64 * 1024))).toEqual([]);
  });

  test("an acknowledgement confirms no more than was received, and never less than before", () => {
    const heard = [...both, output(0, 1), output(0, 2)];
    const acknowledged = (...positions: number[]): LaunchStepEvent => ({ kind: "acknowledged", positions });
    expect(after(resumable, ...heard, acknowledged(9, 9))).toEqual(["n0 <- taken 2"]);
    expect(after(resumable, ...heard, acknowledged(2), acknowledged(1))).toEqual([]);
  });

  test("the first failure decides the outcome", () => {
    const heard = [...both, taskEnd(0, 1, 3), taskEnd(1, 1, 143), done(0, 2), done(1, 2)];
    expect(after(started, ...both, taskEnd(0, 1, 3))).toEqual([
      "n0 <- kill 3 task 0 on n0 ended with exit code 3",
      "n1 <- kill 3 task 0 on n0 ended with exit code 3",
      "timer end 15 s",
      "caller <- taskEnd 0.1",
    ]);
    expect(after(started, ...heard)).toEqual([
      "stop member 1",
      "caller <- nothing 1.2",
      "stop end",
      "stop caller",
      "caller <- end 3",
      "settle task 0 on n0 ended with exit code 3",
    ]);
  });

  test("tasks that do not end in time are given up", () => {
    const failed: LaunchStepEvent = { kind: "fail", failure: { exitCode: 9, reason: "why" } };
    expect(after(started, ...both, failed, { kind: "timer", timer: { name: "end" } })).toEqual([
      "stop end",
      "stop caller",
      "caller <- end 9",
      "settle why",
    ]);
  });
});

describe("exchanges", () => {
  test("the result goes to every attached node when the last one arrives", () => {
    expect(after(started, ...both, fence(0, 1, 1))).toEqual([]);
    expect(after(started, ...both, fence(0, 1, 1), fence(1, 1, 1))).toEqual(["n0 <- fenceDone 1", "n1 <- fenceDone 1"]);
    expect(after(started, attached(0), fence(0, 1, 1), fence(1, 1, 1))).toEqual(["n0 <- fenceDone 1"]);
  });

  test("an adopted launch postpones lookups, and nothing else, until all nodes have answered", () => {
    expect(after(adopted, attached(0), names(0, 1, pb.NameAct.LOOKUP))).toEqual([]);
    expect(after(adopted, attached(0), names(0, 1, pb.NameAct.PUBLISH))).toEqual(["ask_names 0"]);
    expect(after(adopted, attached(0), names(0, 1, pb.NameAct.LOOKUP), attached(1))).toEqual([
      "stop member 1",
      "ask_names 0",
    ]);
    expect(after(started, attached(0), names(0, 1, pb.NameAct.LOOKUP))).toEqual(["ask_names 0"]);
    expect(after(started, attached(0), names(0, 1, pb.NameAct.LOOKUP), names(0, 1, pb.NameAct.LOOKUP))).toEqual([]);
  });

  test("input waits for the node of the first task, up to a mebibyte", () => {
    const input = { data: new Uint8Array(1024 * 1024), end: false, rows: 0, columns: 0 };
    expect(after(started, attached(1), { kind: "input", input })).toEqual([]);
    expect(after(started, { kind: "input", input }, attached(0))).toEqual(["stop member 0", "n0 <- input"]);
    expect(acceptsInput(started, input)).toBe(true);
    expect(acceptsInput(played(started, { kind: "input", input }), { ...input, data: new Uint8Array(1) })).toBe(false);
  });
});

describe("callers", () => {
  test("the first reader starts where the launch does; a later one makes the nodes repeat what it lacks", () => {
    expect(after(resumable, ...both, read())).toEqual(["stop caller"]);
    expect(after(resumable, ...both, read(), taskEnd(0, 1), read(1))).toEqual([
      "stop caller",
      "clear_queue",
      "n0 <- again",
      "n1 <- again",
      "caller <- taskEnd 0.1",
    ]);
    expect(after(resumable, attached(0), read(), read())).toContain(`timer member 1 ${FOUND_WITHIN / 1000} s`);
  });

  test("a caller that does not come back ends the launch", () => {
    expect(after(resumable, ...both, { kind: "caller_away" })).toEqual(["timer caller 60 s"]);
    expect(after(resumable, ...both, { kind: "timer", timer: { name: "caller" } })).toEqual([
      "n0 <- kill 143 the caller did not come back within 60 s",
      "n1 <- kill 143 the caller did not come back within 60 s",
      "timer end 15 s",
      "clear_queue",
      "stop caller",
      "n0 <- taken 0",
      "n1 <- taken 0",
    ]);
  });

  test("without a caller, reports are confirmed and dropped, and the end is not kept", () => {
    const gone: LaunchStepEvent = { kind: "discard" };
    expect(after(resumable, ...both, gone, output(0, 1, 64 * 1024))).toEqual(["n0 <- taken 1"]);
    expect(after(resumable, ...both, gone, done(0, 1), done(1, 1))).toEqual([
      "stop member 1",
      "n1 <- taken 1",
      "end_stream 1",
      "stop end",
      "stop caller",
      "caller <- end 0",
      "settle completed",
      "discarded",
    ]);
  });

  test("an adopted launch does not end before a caller has come or is given up", () => {
    expect(after(adopted, ...both, done(0, 1), done(1, 1))).toEqual(["stop member 1"]);
    expect(after(adopted, ...both, done(0, 1), done(1, 1), { kind: "discard" })).toContain("settle completed");
  });

  test("a server that no longer leads breaks every stream and settles nothing", () => {
    expect(after(started, attached(0), { kind: "leave" })).toEqual([
      "stop caller",
      "stop end",
      "stop member 0",
      "drop_stream 0",
      "stop member 1",
    ]);
    expect(
      after(started, attached(0), { kind: "leave" }, { kind: "fail", failure: { exitCode: 1, reason: "" } }),
    ).toEqual([]);
  });
});

describe("over random histories", () => {
  const place = fc.integer({ min: 0, max: 1 });
  const number = fc.integer({ min: 1, max: 6 });
  const event: fc.Arbitrary<LaunchStepEvent> = fc.oneof(
    fc.tuple(place, fc.boolean()).map(([at, repeats]) => attached(at, repeats)),
    place.map((at): LaunchStepEvent => ({ kind: "detached", place: at })),
    fc.tuple(place, number).map(([at, n]) => output(at, n)),
    fc.tuple(place, number, fc.integer({ min: 0, max: 1 })).map(([at, n, code]) => taskEnd(at, n, code)),
    fc.tuple(place, number).map(([at, n]) => done(at, n)),
    fc.tuple(place, number).map(([at, n]) => fence(at, n, n)),
    fc.array(number, { maxLength: 2 }).map((from) => read(...from)),
    fc.array(number, { maxLength: 2 }).map((positions): LaunchStepEvent => ({ kind: "acknowledged", positions })),
    fc.constantFrom<LaunchStepEvent>(
      { kind: "caller_away" },
      { kind: "discard" },
      { kind: "close" },
      { kind: "leave" },
      { kind: "timer", timer: { name: "caller" } },
      { kind: "timer", timer: { name: "end" } },
      { kind: "timer", timer: { name: "member", place: 1, within: RETURN_WITHIN } },
    ),
  );
  const launch = fc.constantFrom(started, resumable, adopted);

  test("a step changes no state in place, and sends only to attached nodes", () => {
    fc.assert(
      fc.property(launch, fc.array(event, { maxLength: 40 }), (first, events) => {
        let state = first;
        for (const each of events) {
          const before = JSON.stringify(state);
          const [next, effects] = step(state, each);
          expect(JSON.stringify(state)).toBe(before);
          for (const effect of effects) {
            if (effect.kind !== "send") continue;
            const isAttached = state.members[effect.place]?.isAttached || next.members[effect.place]?.isAttached;
            expect(isAttached).toBe(true);
          }
          state = next;
        }
      }),
    );
  });

  test("the caller receives one end per reading, and the outcome never changes", () => {
    fc.assert(
      fc.property(launch, fc.array(event, { maxLength: 40 }), (first, events) => {
        let state = first;
        let ends = 0;
        let failure: LaunchState["failure"] = null;
        for (const each of events) {
          const [next, effects] = step(state, each);
          if (effects.some(({ kind }) => kind === "clear_queue")) ends = 0;
          ends += effects.filter((effect) => effect.kind === "queue" && effect.event.event.case === "end").length;
          expect(ends).toBeLessThanOrEqual(1);
          if (failure !== null) expect(next.failure).toEqual(failure);
          failure = next.failure;
          state = next;
        }
      }),
    );
  });

  test("the position confirmed to an agent never decreases", () => {
    fc.assert(
      fc.property(launch, fc.array(event, { maxLength: 40 }), (first, events) => {
        let state = first;
        for (const each of events) {
          const [next] = step(state, each);
          for (const [at, member] of next.members.entries())
            expect(member.confirmed).toBeGreaterThanOrEqual(state.members[at]?.confirmed ?? 0);
          state = next;
        }
      }),
    );
  });
});
