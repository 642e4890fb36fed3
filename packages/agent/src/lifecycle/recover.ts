// Decides what a restarted agent does with an attempt it finds on disk: it continues, waits for its turn, is over, or
// is lost. The runtime gathers the facts. A claimed `pid` means that the command may have started, so such an attempt
// is never started again.

import type { pb } from "@lattice/wire";
import type { AttemptEffect, AttemptState, End, Exit, Stop } from "./attempt.ts";
import { isExclusive, limitsOf } from "./attempt.ts";
import type { AttemptStep } from "./step.ts";

export interface RecoveredFacts {
  /** `null` for a partially written order; nothing was started from it. */
  readonly order: pb.RunOrder | null;
  readonly arrivedAtMs: number;
  /** The wrapper has claimed the attempt. */
  readonly claimed: boolean;
  readonly claimedAtMs: number;
  readonly alive: boolean;
  readonly exit: Exit | null;
  readonly exitedAtMs: number;
  readonly stop: Stop | null;
  readonly end: End | null;
  /** The machine was rebooted since the order was written. */
  readonly rebooted: boolean;
}

export function recover(facts: RecoveredFacts, nowMs: number): AttemptStep {
  if (facts.end !== null) {
    return { attempt: { kind: "ended", end: facts.end }, effects: [{ kind: "report_end", end: facts.end }] };
  }
  if (facts.exit !== null) return over(facts, facts.exit, facts.exitedAtMs);
  if (facts.rebooted) return over(facts, unseen("the node was rebooted while it ran"), nowMs);
  if (facts.claimed && !facts.alive) return over(facts, unseen("its process vanished while the agent was away"), nowMs);
  if (facts.order === null) return facts.claimed ? over(facts, unseen("its order is unreadable"), nowMs) : unknown;
  if (facts.claimed) return resume(facts.order, facts.stop, facts.claimedAtMs, nowMs);
  if (facts.stop !== null) return over(facts, { kind: "not_launched", message: facts.stop.message }, nowMs);
  const received = { order: facts.order, arrivedAtMs: facts.arrivedAtMs };
  return { attempt: { kind: "waiting", exclusive: isExclusive(facts.order), received }, effects: [] };
}

/** In order of arrival; attempts with an unreadable order come first. */
export function byArrival(found: ReadonlyMap<string, RecoveredFacts>): readonly (readonly [string, RecoveredFacts])[] {
  return [...found].sort(([a, left], [b, right]) => left.arrivedAtMs - right.arrivedAtMs || (a < b ? -1 : 1));
}

const unknown: AttemptStep = { attempt: null, effects: [] };

const unseen = (message: string): Exit => ({ kind: "unseen", message });

/** Its leftovers are ended first, as after any exit. */
function over(facts: RecoveredFacts, exit: Exit, atMs: number): AttemptStep {
  const exclusive = facts.order === null || isExclusive(facts.order);
  const attempt: AttemptState = { kind: "clearing", exclusive, exit, atMs, stop: facts.stop, forgotten: false };
  return { attempt, effects: [{ kind: "clear" }] };
}

function resume(order: pb.RunOrder, stop: Stop | null, startedAtMs: number, nowMs: number): AttemptStep {
  const exclusive = isExclusive(order);
  const limits = limitsOf(order);
  if (stop !== null) {
    // The signal may not have been sent before the agent died; sending it twice is harmless.
    const effects: AttemptEffect[] = [
      { kind: "terminate" },
      { kind: "arm", timer: "kill", atMs: Math.max(stop.killAtMs, nowMs) },
    ];
    return { attempt: { kind: "stopping", exclusive, limits, stop, forgotten: false }, effects };
  }
  const effects: AttemptEffect[] = [{ kind: "report_running", atMs: startedAtMs }];
  if (limits.walltimeMs !== null) {
    effects.push({ kind: "arm", timer: "walltime", atMs: startedAtMs + limits.walltimeMs });
  }
  return { attempt: { kind: "running", exclusive, limits, startedAtMs }, effects };
}
