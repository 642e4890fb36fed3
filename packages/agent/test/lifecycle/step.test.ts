// The state machine of an attempt: a table of its moves, and properties over random histories.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
  AttemptEffect,
  AttemptEvent,
  AttemptIn,
  AttemptState,
  End,
  ReceivedOrder,
  Stop,
} from "../../src/lifecycle/attempt.ts";
import { step } from "../../src/lifecycle/step.ts";

const order = create(pb.RunOrderSchema, {
  allocationId: "7",
  attempt: 1,
  entrypoint: "true",
  walltimeSeconds: 60,
  graceSeconds: 5,
  nodes: ["n1"],
});
const received: ReceivedOrder = { order, arrivedAtMs: 10 };
const limits = { walltimeMs: 60_000, graceMs: 5_000 };
const waiting: AttemptState = { kind: "waiting", exclusive: true, received };
const starting: AttemptState = { kind: "starting", exclusive: true, limits };
const running: AttemptState = { kind: "running", exclusive: true, limits, startedAtMs: 100 };
const stopped: Stop = { cause: "stopped", message: "m", killAtMs: 6_000 };
const overtime: Stop = { cause: "walltime_exceeded", message: "w", killAtMs: 6_000 };
const stopping: AttemptIn<"stopping"> = {
  kind: "stopping",
  exclusive: true,
  limits,
  stop: stopped,
  forgotten: false,
};
const exit = { kind: "code", code: 0, recorded: true } as const;
const clearing: AttemptIn<"clearing"> = {
  kind: "clearing",
  exclusive: true,
  exit,
  atMs: 900,
  stop: null,
  forgotten: false,
};
const end: End = { kind: "completed", exitCode: 0, message: "", atMs: 900 };
const ended: AttemptState = { kind: "ended", end };
const archived: AttemptState = { kind: "archived", end };

const run: AttemptEvent = { kind: "run", received, wait: false };
const recall: AttemptEvent = { kind: "recall", reason: "r" };
const later: AttemptEvent = { kind: "run", received, wait: true };
const longer: AttemptEvent = {
  kind: "run",
  received: { ...received, order: { ...order, walltimeSeconds: 600 } },
  wait: false,
};
const endless: AttemptEvent = {
  kind: "run",
  received: { ...received, order: { ...order, walltimeSeconds: 0 } },
  wait: false,
};
const stop: AttemptEvent = { kind: "stop", graceMs: null, reason: "cancelled" };
const forget: AttemptEvent = { kind: "forget" };
const started: AttemptEvent = { kind: "started", atMs: 100 };
const exited: AttemptEvent = { kind: "exited", exit, atMs: 900 };
const NOW = 1_000;

/** [name, state, event, next state, effects in order] */
const table: readonly [string, AttemptState | null, AttemptEvent, string | null, readonly AttemptEffect["kind"][]][] = [
  ["a new order starts", null, run, "starting", ["start"]],
  ["a new order on a node that is not free waits, on disk", null, later, "waiting", ["remember_order"]],
  ["while waiting, an order changes nothing", waiting, run, "waiting", []],
  ["a new walltime while waiting", waiting, longer, "waiting", ["remember_order"]],
  ["its turn starts it", waiting, { kind: "turn" }, "starting", ["start"]],
  ["a second turn does not", starting, { kind: "turn" }, "starting", []],
  ["nor one after the end", ended, { kind: "turn" }, "ended", []],
  ["a stop while waiting ends it before it began", waiting, stop, "ended", ["remember_end", "report_end"]],
  ["a recall while waiting ends it before it began", waiting, recall, "ended", ["remember_end", "report_end"]],
  ["a recall of an unknown attempt keeps it from starting", null, recall, "ended", ["remember_end", "report_end"]],
  ["a recall means nothing to one that starts", starting, recall, "starting", []],
  ["nor to one that runs", running, recall, "running", []],
  ["nor to one that is being ended", stopping, recall, "stopping", []],
  ["a recall repeats the end of one that has ended", ended, recall, "ended", ["report_end"]],
  ["forgotten while waiting", waiting, forget, "archived", ["remember_end", "archive"]],
  ["an exit means nothing to one that waits", waiting, exited, "waiting", []],
  ["nor does a timer", waiting, timer("kill"), "waiting", []],
  ["while starting, an order changes nothing", starting, run, "starting", []],
  ["while running, an order is answered", running, run, "running", ["report_running"]],
  ["a new walltime while starting", starting, longer, "starting", ["remember_order"]],
  ["a new walltime while running", running, longer, "running", ["remember_order", "disarm", "arm", "report_running"]],
  ["no walltime any more", running, endless, "running", ["remember_order", "disarm", "report_running"]],
  ["a new walltime is too late while stopping", stopping, longer, "stopping", []],
  ["while stopping, an order changes nothing", stopping, run, "stopping", []],
  ["while clearing, an order changes nothing", clearing, run, "clearing", []],
  ["after the end, an order is answered by the end", ended, run, "ended", ["report_end"]],
  ["after the archive too", archived, run, "archived", ["report_end"]],

  ["a start arms the walltime", starting, started, "running", ["report_running", "arm"]],
  ["a start under a stop says nothing", stopping, started, "stopping", []],

  ["a stop before the run is remembered", null, stop, "ended", ["remember_end", "report_end"]],
  ["a stop while starting", starting, stop, "stopping", ["disarm", "remember_stop", "terminate", "arm", "arm"]],
  ["a stop while running", running, stop, "stopping", ["disarm", "remember_stop", "terminate", "arm", "arm"]],
  ["a second stop with no sooner end", stopping, { ...stop, graceMs: 50_000 }, "stopping", []],
  ["a second stop with a sooner end", stopping, { ...stop, graceMs: 10 }, "stopping", ["remember_stop", "arm"]],
  ["a stop while clearing", clearing, stop, "clearing", []],
  ["a stop after the end is answered", ended, stop, "ended", ["report_end"]],
  ["a stop beats the walltime", { ...stopping, stop: overtime }, stop, "stopping", ["remember_stop", "arm"]],

  [
    "the walltime stops",
    running,
    timer("walltime"),
    "stopping",
    ["disarm", "remember_stop", "terminate", "arm", "arm"],
  ],
  ["the walltime does not beat a stop", stopping, timer("walltime"), "stopping", []],
  ["those forked meanwhile are asked too", stopping, timer("terminate_again"), "stopping", ["terminate"]],
  ["the grace is over", stopping, timer("kill"), "stopping", ["kill", "arm"]],
  ["a late timer does nothing", ended, timer("kill"), "ended", []],

  ["an exit is cleared first", running, exited, "clearing", ["disarm", "clear"]],
  ["an exit under a stop too", stopping, exited, "clearing", ["disarm", "clear"]],
  ["a failed start too", starting, exited, "clearing", ["disarm", "clear"]],
  ["an exit of nothing", null, exited, null, []],
  ["an exit after the end", ended, exited, "ended", []],
  ["a recorded exit is only reported", clearing, { kind: "cleared" }, "ended", ["report_end"]],
  [
    "any other is remembered first",
    { ...clearing, exit: { kind: "unseen", message: "gone" } },
    { kind: "cleared" },
    "ended",
    ["remember_end", "report_end"],
  ],

  ["acknowledged, it is archived", ended, { kind: "acknowledged" }, "archived", ["archive"]],
  ["a late acknowledgement", running, { kind: "acknowledged" }, "running", []],
  ["forgotten after the end", ended, forget, "archived", ["archive"]],
  ["forgotten and unknown", null, forget, null, []],
  [
    "forgotten while running: it must not stay",
    running,
    forget,
    "stopping",
    ["disarm", "remember_stop", "terminate", "arm", "arm"],
  ],
  [
    "forgotten, its end is not reported",
    { ...clearing, forgotten: true },
    { kind: "cleared" },
    "archived",
    ["archive"],
  ],
];

describe("one step of an attempt", () => {
  test.each(table)("%s", (_name, before, event, kind, effects) => {
    const after = step(before, event, NOW);
    expect(after.attempt?.kind ?? null).toBe(kind);
    expect(after.effects.map((effect) => effect.kind)).toEqual(effects);
  });

  test("a stop replaces the walltime as cause and keeps the earlier deadline", () => {
    const after = step({ ...stopping, stop: overtime }, { ...stop, graceMs: 60_000 }, NOW);
    expect(after.attempt).toMatchObject({ stop: { cause: "stopped", killAtMs: 6_000 } });
  });

  test("a waiting attempt keeps its position when its walltime changes", () => {
    const next = { order: { ...order, walltimeSeconds: 600 }, arrivedAtMs: 99 };
    expect(step(waiting, { kind: "run", received: next, wait: true }, NOW).attempt).toMatchObject({
      received: { order: { walltimeSeconds: 600 }, arrivedAtMs: 10 },
    });
  });

  test("an attempt stopped while it waited reports that and never starts", () => {
    const after = step(waiting, stop, NOW).attempt;
    expect(after).toMatchObject({ end: { reason: "stopped", exitCode: null } });
    expect(after).toMatchObject({ end: { message: expect.stringContaining("before it began") } });
    expect(step(after, { kind: "turn" }, NOW)).toEqual({ attempt: after, effects: [] });
  });

  test("grace comes from the stop order, else from the run order", () => {
    expect(step(running, stop, NOW).attempt).toMatchObject({ stop: { killAtMs: NOW + 5_000 } });
    expect(step(running, { ...stop, graceMs: 7 }, NOW).attempt).toMatchObject({ stop: { killAtMs: NOW + 7 } });
  });
});

describe("any sequence of events", () => {
  const events = fc.array(
    fc.constantFrom<AttemptEvent>(
      run,
      later,
      { kind: "turn" },
      stop,
      forget,
      started,
      exited,
      timer("walltime"),
      timer("terminate_again"),
      timer("kill"),
      { kind: "cleared" },
      { kind: "acknowledged" },
      { kind: "exited", exit: { kind: "unseen", message: "gone" }, atMs: 5 },
    ),
    { maxLength: 40 },
  );

  test("an attempt starts at most once, never reports running after its end, and has one verdict", () => {
    fc.assert(
      fc.property(events, (history) => {
        let attempt: AttemptState | null = null;
        let starts = 0;
        let verdict: string | null = null;
        for (const event of history) {
          const after = step(attempt, event, NOW);
          for (const effect of after.effects) {
            if (effect.kind === "start") starts += 1;
            if (effect.kind === "report_running") expect(verdict).toBeNull();
            if (effect.kind === "report_end") {
              verdict ??= JSON.stringify(effect.end);
              expect(JSON.stringify(effect.end)).toBe(verdict);
            }
          }
          attempt = after.attempt;
        }
        expect(starts).toBeLessThanOrEqual(1);
      }),
      { numRuns: 3_000 },
    );
  });

  test("an end is reported only after everything was cleared", () => {
    fc.assert(
      fc.property(events, (history) => {
        let attempt: AttemptState | null = null;
        let started = false;
        let cleared = false;
        for (const event of history) {
          const before: AttemptState | null = attempt;
          const after = step(before, event, NOW);
          if (event.kind === "cleared" && before?.kind === "clearing") cleared = true;
          for (const effect of after.effects) {
            if (effect.kind === "start") started = true;
            if (effect.kind === "report_end" && started) expect(cleared).toBe(true);
          }
          attempt = after.attempt;
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

function timer(name: "walltime" | "terminate_again" | "kill"): AttemptEvent {
  return { kind: "timer", name };
}
