// Decisions of a restarted agent from the files on disk, and the meaning of each exit, as tables.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import type { AttemptEffect } from "../../src/lifecycle/attempt.ts";
import { byArrival, type RecoveredFacts, recover } from "../../src/lifecycle/recover.ts";
import { verdict } from "../../src/lifecycle/verdict.ts";

const order = create(pb.RunOrderSchema, { walltimeSeconds: 60 });
const facts: RecoveredFacts = {
  order,
  arrivedAtMs: 5,
  claimed: true,
  claimedAtMs: 500,
  alive: true,
  exit: null,
  exitedAtMs: 0,
  stop: null,
  end: null,
  rebooted: false,
};
const stop = { cause: "stopped", message: "m", killAtMs: 400 } as const;
const NOW = 1_000;

const table: readonly [string, Partial<RecoveredFacts>, string | null, readonly AttemptEffect["kind"][]][] = [
  ["alive: continues", {}, "running", ["report_running", "arm"]],
  ["alive and being stopped: the stop continues", { stop }, "stopping", ["terminate", "arm"]],
  ["not claimed: waits for its turn", { claimed: false, alive: false }, "waiting", []],
  ["not claimed and to be stopped: not started", { claimed: false, alive: false, stop }, "clearing", ["clear"]],
  [
    "exit left behind: cleared, then reported",
    { alive: false, exit: { kind: "code", code: 0, recorded: true } },
    "clearing",
    ["clear"],
  ],
  ["gone without a trace: lost", { alive: false }, "clearing", ["clear"]],
  ["rebooted: lost, even when never started", { claimed: false, alive: false, rebooted: true }, "clearing", ["clear"]],
  ["rebooted: a reused process id changes nothing", { alive: true, rebooted: true }, "clearing", ["clear"]],
  [
    "ended and not acknowledged: reported",
    { end: { kind: "completed", exitCode: 0, message: "", atMs: 1 } },
    "ended",
    ["report_end"],
  ],
  ["an order cut short: nothing", { order: null, claimed: false, alive: false }, null, []],
];

describe("recovery of attempts", () => {
  test.each(table)("%s", (_name, change, kind, effects) => {
    const first = recover({ ...facts, ...change }, NOW);
    expect(first.attempt?.kind ?? null).toBe(kind);
    expect(first.effects.map((effect) => effect.kind)).toEqual(effects);
  });

  test("the walltime counts from the start, not from the restart", () => {
    expect(recover(facts, NOW).effects).toContainEqual({ kind: "arm", timer: "walltime", atMs: 60_500 });
  });

  test("attempts are recovered in order of arrival, then by key", () => {
    const arrived = (arrivedAtMs: number): RecoveredFacts => ({ ...facts, arrivedAtMs });
    const found = new Map([
      ["3.1", arrived(7)],
      ["2.2", arrived(7)],
      ["9.1", arrived(1)],
      ["4.1", { ...facts, order: null, arrivedAtMs: 0 }],
    ]);
    expect(byArrival(found).map(([key]) => key)).toEqual(["4.1", "9.1", "2.2", "3.1"]);
  });

  test("a grace that expired meanwhile ends at once", () => {
    expect(recover({ ...facts, stop }, NOW).effects).toContainEqual({ kind: "arm", timer: "kill", atMs: NOW });
  });
});

describe("verdict", () => {
  test.each([
    [{ kind: "code", code: 0, recorded: true }, null, "completed", undefined, 0],
    [{ kind: "code", code: 1, recorded: true }, null, "failed", "exit_code", 1],
    [{ kind: "code", code: 137, recorded: true }, null, "failed", "signal", 137],
    [{ kind: "code", code: 255, recorded: true }, null, "failed", "exit_code", 255],
    [{ kind: "signal", number: 9 }, null, "failed", "signal", 137],
    [{ kind: "not_launched", message: "x" }, null, "failed", "launch_failed", null],
    [{ kind: "unseen", message: "x" }, null, "failed", "lost", null],
    [{ kind: "code", code: 0, recorded: true }, stop, "failed", "stopped", 0],
    [{ kind: "unseen", message: "x" }, stop, "failed", "stopped", null],
    [{ kind: "signal", number: 15 }, { ...stop, cause: "walltime_exceeded" }, "failed", "walltime_exceeded", 143],
  ] as const)("%o under %o is %s %s", (exit, cause, kind, reason, exitCode) => {
    const end = verdict(exit, cause, 5);
    expect(end).toMatchObject({ kind, exitCode, atMs: 5 });
    expect(end.kind === "failed" ? end.reason : undefined).toBe(reason);
  });
});
