// Every command about an allocation in every phase of it: one row per command, one column per phase. A command that is
// not accepted changes nothing and causes no event and no order.

import { attempt, type Command } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { cancel, hold, id, nodeId, origin, reportOf, verdict } from "../../support/cluster.ts";
import { contentOf } from "../../support/content.ts";
import { type PhaseName, phaseBuilders } from "../../support/phases.ts";
import { placing } from "../../support/placing.ts";

const A = "accepted";
const R = "repeated";
const I = "illegal_transition";
const S = "stale_report";
const N = "not_assigned";

const PHASES: readonly PhaseName[] = [
  "pending",
  "held",
  "blocked",
  "backoff",
  "staging",
  "running",
  "checkpointing",
  "suspended",
  "completed",
  "failed",
  "cancelled",
];

const one = id(1);
const first = attempt(1);

const COMMANDS: Readonly<Record<string, Command>> = {
  cancel: cancel(1),
  hold: hold(1),
  release: hold(1, false),
  "checkpoint by a user": { kind: "allocation.checkpoint", origin: origin(), id: one },
  "checkpoint by the broker": {
    kind: "attempt.checkpoint",
    allocation: one,
    attempt: first,
    cause: "broker",
    message: "",
  },
  "checkpoint expiry": { kind: "checkpoint.expire", allocation: one, attempt: first, n: 1 },
  resume: { kind: "allocation.resume", origin: origin(), id: one },
  requeue: { kind: "allocation.requeue", allocation: one, expectedRequeues: 0, cause: "node_failure" },
  "walltime expiry": { kind: "attempt.expire", allocation: one, attempt: first },
  "end of backoff": { kind: "allocation.end_backoff", allocation: one },
  update: { kind: "allocation.update", origin: origin(), id: one, change: { name: "other" } },
  "report of running": reportOf(1, "n1", first, "running"),
  "report of an unknown node": reportOf(1, "n2", first, "running"),
  "report of another attempt": reportOf(1, "n1", attempt(7), "completed"),
  "opening of a session": { kind: "session.open", origin: origin(), allocation: one },
  "opening of another user's session": {
    kind: "session.open",
    origin: { ...origin(), user: "eve" as never },
    allocation: one,
  },
  "closing of a session": { kind: "session.close", origin: origin(), allocation: one, n: 2, exitCode: 0 },
  scaling: {
    kind: "allocation.scale",
    allocation: one,
    attempt: first,
    size: 1,
    change: "add",
    node: nodeId("n2"),
    reason: "metric",
    detail: "",
  },
};

//                            pend held blok back stag run  chkp susp comp fail canc
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  cancel: [A, A, A, A, A, A, A, A, I, I, R],
  hold: [A, R, A, A, I, I, I, I, I, I, I],
  release: [R, A, R, R, R, R, R, R, R, R, R],
  "checkpoint by a user": [I, I, I, I, I, A, R, I, I, I, I],
  "checkpoint by the broker": [S, S, S, I, I, A, R, I, I, I, S],
  "checkpoint expiry": [S, S, S, R, R, R, A, R, R, R, S],
  resume: [I, I, I, I, I, I, I, A, I, I, I],
  requeue: [I, I, I, S, A, A, A, I, I, I, I],
  "walltime expiry": [S, S, S, I, S, S, S, I, R, R, S],
  "end of backoff": [R, R, R, S, R, R, R, R, R, R, R],
  update: [A, A, A, A, A, A, A, A, I, I, I],
  "report of running": [N, N, N, N, A, R, R, N, N, N, N],
  "report of an unknown node": [N, N, N, N, N, N, N, N, N, N, N],
  "report of another attempt": [N, N, N, N, N, N, N, N, N, N, N],
  "opening of a session": [I, I, I, I, I, A, A, I, I, I, I],
  "opening of another user's session": PHASES.map(() => "not_owner"),
  "closing of a session": [R, R, R, R, R, R, R, R, R, R, R],
  scaling: [I, I, I, I, I, I, I, I, I, I, I],
};

const CASES = Object.entries(COMMANDS).flatMap(([name, command]) =>
  PHASES.map((phase, n) => ({ name, command, phase, expected: EXPECTED[name]?.[n] ?? "missing" })),
);

describe("a command", () => {
  it.each(CASES)("$name on $phase work is $expected", ({ command, phase, expected }) => {
    const c = phaseBuilders[phase]();
    const before = contentOf(c.state);
    const applied = c.apply(command);
    expect(verdict(applied.outcomes[0])).toBe(expected);
    if (expected === A) {
      expect(contentOf(c.state)).not.toBe(before);
      return;
    }
    expect(contentOf(c.state)).toBe(before);
    expect([applied.events, applied.effects]).toEqual([[], []]);
  });

  it.each(PHASES)("for an unknown allocation is rejected, whatever other work is %s", (phase) => {
    const c = phaseBuilders[phase]();
    const before = contentOf(c.state);
    for (const [name, command] of Object.entries(COMMANDS)) {
      const stray = { ...command, ...("id" in command ? { id: id(77) } : { allocation: id(77) }) } as Command;
      const expected = name.startsWith("report") ? N : "unknown_allocation";
      expect(verdict(c.one(stray)), name).toBe(expected);
    }
    expect(contentOf(c.state)).toBe(before);
  });

  it.each(PHASES.filter((phase) => phase !== "pending"))("that places %s work is stale and claims nothing", (phase) => {
    const c = phaseBuilders[phase]();
    const claims = c.claims("n1");
    const applied = c.apply(placing(c, 1, ["n2"]));
    expect(verdict(applied.outcomes[0])).toBe("stale_plan");
    expect([c.claims("n1"), c.claims("n2"), applied.effects]).toEqual([claims, [], []]);
    expect(applied.events.map(({ kind }) => kind)).toEqual(["placement_refused"]);
  });
});
