// The state machine of one attempt: an event in, the next state and the effects out. It guarantees that an order
// starts one process, that a stop before the run prevents the run, that attempts start in turn, and that an end is
// reported only when nothing of the attempt is left. It performs nothing and reads no clock; `nowMs` is an argument.

import type {
  AttemptEffect,
  AttemptEvent,
  AttemptIn,
  AttemptState,
  End,
  Exit,
  ReceivedOrder,
  Stop,
  TimerName,
} from "./attempt.ts";
import { isExclusive, limitsOf } from "./attempt.ts";
import { verdict } from "./verdict.ts";

/** `attempt` is null when it is unknown. */
export interface AttemptStep {
  readonly attempt: AttemptState | null;
  readonly effects: readonly AttemptEffect[];
}

export function step(attempt: AttemptState | null, event: AttemptEvent, nowMs: number): AttemptStep {
  switch (event.kind) {
    case "run":
      return run(attempt, event.received, event.wait);
    case "turn":
      return attempt?.kind === "waiting" ? start(attempt.received) : nothing(attempt);
    case "stop":
      return stop(attempt, event.graceMs, event.reason, nowMs);
    case "recall":
      return recall(attempt, event.reason, nowMs);
    case "forget":
      return forget(attempt, nowMs);
    case "unhealthy": {
      if (attempt?.kind !== "running") return nothing(attempt);
      const killAtMs = nowMs + attempt.limits.graceMs;
      return begin(attempt, { cause: "probe_failed", message: event.message, killAtMs }, false, nowMs);
    }
    case "started":
      return started(attempt, event.atMs);
    case "exited":
      return exited(attempt, event.exit, event.atMs);
    case "timer":
      return timer(attempt, event.name, nowMs);
    case "cleared":
      return cleared(attempt);
    case "acknowledged":
      if (attempt?.kind !== "ended") return nothing(attempt);
      return { attempt: { kind: "archived", end: attempt.end }, effects: [{ kind: "archive" }] };
  }
}

function run(attempt: AttemptState | null, received: ReceivedOrder, wait: boolean): AttemptStep {
  if (attempt === null) return wait ? waiting(received) : start(received);
  const limits = limitsOf(received.order);
  if (attempt.kind === "waiting") {
    if (limits.walltimeMs === limitsOf(attempt.received.order).walltimeMs) return nothing(attempt);
    // It keeps its position among the waiting attempts.
    return waiting({ ...received, arrivedAtMs: attempt.received.arrivedAtMs });
  }
  if (attempt.kind === "starting" || attempt.kind === "running") {
    if (limits.walltimeMs !== attempt.limits.walltimeMs) return relimit({ ...attempt, limits }, received);
  }
  return { attempt, effects: repeat(attempt) };
}

/** On disk before its turn, so that a restarted agent knows the attempt. */
const waiting = (received: ReceivedOrder): AttemptStep => ({
  attempt: { kind: "waiting", exclusive: isExclusive(received.order), received },
  effects: [{ kind: "remember_order", received }],
});

const start = (received: ReceivedOrder): AttemptStep => ({
  attempt: { kind: "starting", exclusive: isExclusive(received.order), limits: limitsOf(received.order) },
  effects: [{ kind: "start", received }],
});

/** The walltime changed: the old end no longer applies, not even after a restart of the agent. */
function relimit(attempt: AttemptIn<"starting" | "running">, received: ReceivedOrder): AttemptStep {
  const effects: AttemptEffect[] = [{ kind: "remember_order", received }];
  const { walltimeMs } = attempt.limits;
  if (attempt.kind === "running") {
    effects.push({ kind: "disarm" });
    if (walltimeMs !== null) effects.push({ kind: "arm", timer: "walltime", atMs: attempt.startedAtMs + walltimeMs });
  }
  return { attempt, effects: [...effects, ...repeat(attempt)] };
}

/** A repeated order changes nothing; the current state is reported again. */
function repeat(attempt: AttemptState): readonly AttemptEffect[] {
  if (attempt.kind === "running") return [{ kind: "report_running", atMs: attempt.startedAtMs }];
  return hasEnded(attempt) ? [{ kind: "report_end", end: attempt.end }] : [];
}

function stop(attempt: AttemptState | null, graceMs: number | null, reason: string, nowMs: number): AttemptStep {
  const message = reason === "" ? "stopped by the server" : `stopped by the server: ${reason}`;
  if (attempt === null || attempt.kind === "waiting") return endedBefore(beforeItBegan(message, nowMs));
  if (attempt.kind === "clearing") return nothing(attempt);
  if (hasEnded(attempt)) return { attempt, effects: repeat(attempt) };
  const killAtMs = nowMs + (graceMs ?? attempt.limits.graceMs);
  const wanted: Stop = { cause: "stopped", message, killAtMs };
  if (attempt.kind !== "stopping") return begin(attempt, wanted, false, nowMs);
  // Already stopping: only an earlier deadline replaces the current one.
  const sooner = Math.min(killAtMs, attempt.stop.killAtMs);
  if (attempt.stop.cause === "stopped" && sooner === attempt.stop.killAtMs) return nothing(attempt);
  const changed: Stop = { ...wanted, killAtMs: sooner };
  return {
    attempt: { ...attempt, stop: changed },
    effects: [
      { kind: "remember_stop", stop: changed },
      { kind: "arm", timer: "kill", atMs: sooner },
    ],
  };
}

/** An unknown attempt has not started here, and a later order for it must not start it. */
function recall(attempt: AttemptState | null, reason: string, nowMs: number): AttemptStep {
  if (attempt !== null && attempt.kind !== "waiting") {
    return hasEnded(attempt) ? { attempt, effects: repeat(attempt) } : nothing(attempt);
  }
  return endedBefore({ ...beforeItBegan(`recalled by the server: ${reason}`, nowMs), reason: "recalled" });
}

const endedBefore = (end: FailedEnd): AttemptStep => ({
  attempt: { kind: "ended", end },
  effects: [
    { kind: "remember_end", end },
    { kind: "report_end", end },
  ],
});

type FailedEnd = Extract<End, { readonly kind: "failed" }>;

const beforeItBegan = (message: string, atMs: number): FailedEnd => ({
  kind: "failed",
  reason: "stopped",
  exitCode: null,
  message: `${message}, before it began`,
  atMs,
});

/** A process forked during the signal has missed it; the second pass finds it. */
const TERMINATE_AGAIN_AFTER_MS = 500;

function begin(attempt: AttemptIn<"starting" | "running">, stop: Stop, forgotten: boolean, nowMs: number): AttemptStep {
  return {
    attempt: { kind: "stopping", exclusive: attempt.exclusive, limits: attempt.limits, stop, forgotten },
    effects: [
      { kind: "disarm" },
      { kind: "remember_stop", stop },
      { kind: "terminate" },
      { kind: "arm", timer: "terminate_again", atMs: nowMs + TERMINATE_AGAIN_AFTER_MS },
      { kind: "arm", timer: "kill", atMs: stop.killAtMs },
    ],
  };
}

/**
 * The server has released the claim: the record may be removed, and its processes must end, since the node may already
 * belong to another tenant.
 */
function forget(attempt: AttemptState | null, nowMs: number): AttemptStep {
  if (attempt === null || attempt.kind === "archived") return nothing(attempt);
  if (attempt.kind === "ended") {
    return { attempt: { kind: "archived", end: attempt.end }, effects: [{ kind: "archive" }] };
  }
  if (attempt.kind === "clearing" || attempt.kind === "stopping") return nothing({ ...attempt, forgotten: true });
  const message = "the server no longer knows it";
  if (attempt.kind === "waiting") {
    const end = beforeItBegan(message, nowMs);
    return { attempt: { kind: "archived", end }, effects: [{ kind: "remember_end", end }, { kind: "archive" }] };
  }
  const stop: Stop = { cause: "stopped", message, killAtMs: nowMs + attempt.limits.graceMs };
  return begin(attempt, stop, true, nowMs);
}

function started(attempt: AttemptState | null, atMs: number): AttemptStep {
  if (attempt?.kind !== "starting") return nothing(attempt);
  const effects: AttemptEffect[] = [{ kind: "report_running", atMs }];
  const { exclusive, limits } = attempt;
  if (limits.walltimeMs !== null) effects.push({ kind: "arm", timer: "walltime", atMs: atMs + limits.walltimeMs });
  return { attempt: { kind: "running", exclusive, limits, startedAtMs: atMs }, effects };
}

function exited(attempt: AttemptState | null, exit: Exit, atMs: number): AttemptStep {
  if (attempt === null || attempt.kind === "waiting" || attempt.kind === "clearing") return nothing(attempt);
  if (hasEnded(attempt)) return nothing(attempt);
  const stopping = attempt.kind === "stopping" ? attempt : null;
  return {
    attempt: {
      kind: "clearing",
      exclusive: attempt.exclusive,
      exit,
      atMs,
      stop: stopping?.stop ?? null,
      forgotten: stopping?.forgotten ?? false,
    },
    effects: [{ kind: "disarm" }, { kind: "clear" }],
  };
}

/** SIGKILL may miss a concurrent fork; it is repeated until the process has ended. */
const KILL_AGAIN_AFTER_MS = 1_000;

function timer(attempt: AttemptState | null, name: TimerName, nowMs: number): AttemptStep {
  if (name === "walltime") {
    if (attempt?.kind !== "running") return nothing(attempt);
    const message = `ran longer than its walltime of ${(attempt.limits.walltimeMs ?? 0) / 1000} s`;
    const killAtMs = nowMs + attempt.limits.graceMs;
    return begin(attempt, { cause: "walltime_exceeded", message, killAtMs }, false, nowMs);
  }
  if (attempt?.kind !== "stopping") return nothing(attempt);
  if (name === "terminate_again") return { attempt, effects: [{ kind: "terminate" }] };
  return { attempt, effects: [{ kind: "kill" }, { kind: "arm", timer: "kill", atMs: nowMs + KILL_AGAIN_AFTER_MS }] };
}

function cleared(attempt: AttemptState | null): AttemptStep {
  if (attempt?.kind !== "clearing") return nothing(attempt);
  const end = verdict(attempt.exit, attempt.stop, attempt.atMs);
  // The control group's OOM count is lost with the group, so the end is recorded.
  const recorded =
    attempt.exit.kind === "code" &&
    attempt.exit.recorded &&
    attempt.exit.oom === undefined &&
    attempt.exit.limit === undefined;
  const remember: AttemptEffect[] = recorded ? [] : [{ kind: "remember_end", end }];
  if (attempt.forgotten) {
    return { attempt: { kind: "archived", end }, effects: [...remember, { kind: "archive" }] };
  }
  return { attempt: { kind: "ended", end }, effects: [...remember, { kind: "report_end", end }] };
}

const hasEnded = (attempt: AttemptState): attempt is AttemptIn<"ended" | "archived"> =>
  attempt.kind === "ended" || attempt.kind === "archived";

const nothing = (attempt: AttemptState | null): AttemptStep => ({ attempt, effects: [] });
