// What a restarted agent makes of an attempt it finds on disk. The facts were gathered by the
// runtime; this decides, once, whether the attempt goes on, waits for its turn, is over, or is
// lost. It trusts the wrapper's own marks: a claimed `pid` means the command may have begun, so
// such an attempt is never started a second time.

import type { Attempt, Effect, End, Exit, Order, Stop } from "./attempt.ts";
import { limitsOf } from "./attempt.ts";
import type { Step } from "./step.ts";

export interface Facts {
  /** Null: the order was cut short while it was written, so nothing was started from it. */
  readonly order: Order | null;
  /** The wrapper has claimed the attempt. */
  readonly claimed: boolean;
  readonly claimedAtMs: number;
  readonly alive: boolean;
  readonly exit: Exit | null;
  readonly exitedAtMs: number;
  readonly stop: Stop | null;
  readonly end: End | null;
  /** The machine has been booted since the order was written. */
  readonly rebooted: boolean;
}

export function recover(facts: Facts, nowMs: number): Step {
  if (facts.end !== null) {
    return { attempt: { kind: "ended", end: facts.end }, effects: [{ kind: "report_end", end: facts.end }] };
  }
  if (facts.exit !== null) return over(facts, facts.exit, facts.exitedAtMs);
  if (facts.rebooted) return over(facts, unseen("the node was booted anew while it ran"), nowMs);
  if (facts.claimed && !facts.alive) return over(facts, unseen("its process vanished while the agent was away"), nowMs);
  if (facts.order === null) return facts.claimed ? over(facts, unseen("its order is unreadable"), nowMs) : unknown;
  if (facts.claimed) return goOn(facts.order, facts.stop, facts.claimedAtMs, nowMs);
  if (facts.stop !== null) return over(facts, { kind: "not_launched", message: facts.stop.message }, nowMs);
  const { order } = facts;
  return { attempt: { kind: "waiting", exclusive: order.exclusive, order }, effects: [] };
}

/** In the order in which they arrived; those whose order is unreadable come first. */
export function byArrival(found: ReadonlyMap<string, Facts>): readonly (readonly [string, Facts])[] {
  const at = (facts: Facts): number => facts.order?.arrivedAtMs ?? 0;
  return [...found].sort(([a, left], [b, right]) => at(left) - at(right) || (a < b ? -1 : 1));
}

const unknown: Step = { attempt: null, effects: [] };

const unseen = (message: string): Exit => ({ kind: "unseen", message });

/** Leftovers of it are ended first, as after any exit. */
function over(facts: Facts, exit: Exit, atMs: number): Step {
  const exclusive = facts.order?.exclusive ?? true;
  const attempt: Attempt = { kind: "clearing", exclusive, exit, atMs, stop: facts.stop, forgotten: false };
  return { attempt, effects: [{ kind: "clear" }] };
}

function goOn(order: Order, stop: Stop | null, startedAtMs: number, nowMs: number): Step {
  const { exclusive } = order;
  const limits = limitsOf(order);
  if (stop !== null) {
    // The signal may not have been sent before the agent died; hearing it twice does less harm.
    const effects: Effect[] = [
      { kind: "terminate" },
      { kind: "arm", timer: "kill", atMs: Math.max(stop.killAtMs, nowMs) },
    ];
    return { attempt: { kind: "stopping", exclusive, limits, stop, forgotten: false }, effects };
  }
  const effects: Effect[] = [{ kind: "report_running", atMs: startedAtMs }];
  if (limits.walltimeMs !== null) {
    effects.push({ kind: "arm", timer: "walltime", atMs: startedAtMs + limits.walltimeMs });
  }
  return { attempt: { kind: "running", exclusive, limits, startedAtMs }, effects };
}
